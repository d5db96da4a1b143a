// A stopping server: connections that seem idle may have a request under way, which is answered; then they end.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FINAL_EVENT } from './answers.ts';
import {
  closeWorlds,
  eventStream,
  eventually,
  gate,
  openWire,
  SEARCH_BODY,
  startWorld,
} from './harness.ts';

afterEach(closeWorlds);

const GET = 'GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n';

test('a request that arrives while the server stops is answered, and ends its connection', async () => {
  const { server } = await startWorld({ kind: 'node' });
  const wires = [openWire(server), openWire(server)];
  for (const wire of wires) wire.write(GET);
  for (const wire of wires) await wire.until('HTTP/1.1 200');
  const closed = server.close(10_000);
  // The client learns nothing of the end before it sends.
  wires[0]?.write(GET);
  const text = (await wires[0]?.closed()) ?? '';
  assert.equal(text.split('HTTP/1.1 200').length, 3);
  assert.equal(text.split(/\r\nConnection: close\r\n/i).length, 2);
  await wires[1]?.closed();
  await closed;
});

test('a stream that begins while the server stops is whole, and announces the end of its connection', async () => {
  const { opened, open } = gate();
  const stream = async () => {
    await opened;
    return eventStream([FINAL_EVENT]);
  };
  const { server, calls } = await startWorld({
    kind: 'node',
    env: { TRAWL_ANONYMOUS_ACCESS: 'true' },
    stream,
  });
  const wire = openWire(server);
  wire.post('/api/stream_search', SEARCH_BODY);
  await eventually(() => calls.length > 0);
  const closed = server.close(10_000);
  open();
  const text = await wire.closed();
  assert.match(text, /\r\nConnection: close\r\n/);
  assert.match(text, /0\r\n\r\n$/);
  await closed;
});
