// Sessions of tool clients: how many, whose, and for how long.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Caller } from '../../../daemon/accounts/caller.ts';
import { Sessions } from '../../../daemon/api/mcp/sessions.ts';
import { SEES_NOTHING } from '../../../daemon/repos/repo-access.ts';

interface Who {
  readonly caller: Caller;
  readonly clientKey: string;
}

function guest(clientKey: string): Who {
  return { caller: { source: 'guest', repoAccess: SEES_NOTHING }, clientKey };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

/** Opens a session by its first message; its id. */
async function openOne(sessions: Sessions, who: Who): Promise<string> {
  const make = () => new Server({ name: 'test', version: '1' }, { capabilities: {} });
  const { transport } = await sessions.open(who, make);
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const request = new Request('http://localhost/', { method: 'POST', headers });
  await (await transport.handleRequest(request, { parsedBody: INITIALIZE })).text();
  return transport.sessionId ?? '';
}

void test('a full caller loses its least recently used session; when all are full, others are refused', async () => {
  const sessions = new Sessions({ countMax: 3, ownCountMax: 2 });
  const [a, b] = [guest('a'), guest('b')];
  const first = await openOne(sessions, a);
  const second = await openOne(sessions, a);
  sessions.find(first, a);
  const third = await openOne(sessions, a);
  assert.throws(() => sessions.find(second, a), /no such session/);
  sessions.find(first, a);
  sessions.find(third, a);
  const other = await openOne(sessions, b);
  await assert.rejects(openOne(sessions, guest('c')), /Too many sessions/);
  assert.throws(() => sessions.find(other, a), /another caller/);
});

void test('a session with a pending request makes no room; where all have one, another is refused', async () => {
  const sessions = new Sessions({ ownCountMax: 2 });
  const who = guest('a');
  const busy = await openOne(sessions, who);
  sessions.find(busy, who).inFlight.begin({ id: 1, method: 'tools/call' });
  const idle = await openOne(sessions, who);
  const third = await openOne(sessions, who);
  assert.throws(() => sessions.find(idle, who), /no such session/);
  sessions.find(third, who).inFlight.begin({ id: 1, method: 'tools/call' });
  sessions.find(busy, who);
  await assert.rejects(openOne(sessions, who), /Too many sessions/);
  sessions.find(busy, who);
  sessions.find(third, who);
});

void test('the same for a user with many tokens, and others still get sessions', async () => {
  const sessions = new Sessions({ countMax: 4, ownCountMax: 2, userCountMax: 3 });
  const token = (credentialId: string): Who => ({
    caller: { source: 'scoped_access_token', credentialId, repoAccess: SEES_NOTHING },
    clientKey: 'a',
  });
  const first = await openOne(sessions, token('1'));
  for (let i = 2; i <= 9; i++) await openOne(sessions, token(String(i)));
  assert.throws(() => sessions.find(first, token('1')), /no such session/);
  const other = await openOne(sessions, guest('b'));
  await openOne(sessions, token('10'));
  sessions.find(other, guest('b'));
});

void test('an idle session expires', async (t) => {
  // Stands still while the session is opened, however long that takes.
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const sessions = new Sessions({ idleMs: 40 });
  const who = guest('a');
  const id = await openOne(sessions, who);
  sessions.find(id, who);
  now += 80;
  // The library looks at the clock once a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.throws(() => sessions.find(id, who), /no such session/);
});
