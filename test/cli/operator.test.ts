// Commands of the operator and searches, while the daemon of the data directory hangs or stops.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { findControlPath } from '../../daemon/base/config/control-path.ts';
import { reach } from '../../daemon/cli/operator.ts';
import { findOwnDaemon } from '../../daemon/cli/own-daemon.ts';
import { daemonAt, openRemoteSearch } from '../../daemon/cli/remote-search.ts';
import { takeDataDir } from '../../daemon/index/catalog/data-dir.ts';
import { startPlainServer } from '../http/plain-server.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

test('a stopped process that owns the socket is reported after the limit, with the remedy', async (t) => {
  const dataDir = temporaryFolder();
  const program = "require('net').createServer().listen(process.argv[1], () => console.log('up'))";
  const owner = spawn(process.execPath, ['-e', program, findControlPath(dataDir)]);
  t.after(() => owner.kill('SIGKILL'));
  await once(owner.stdout, 'data');
  owner.kill('SIGSTOP');
  const open = (): Promise<never> => assert.fail('the owner is alive');
  await assert.rejects(reach({ dataDir }, open, 0, 100), {
    name: 'UsageError',
    message: `the daemon of ${dataDir} has not answered for 0.1 s; ${dataDir}/lock names its process: end it, and start it again`,
  });
});

/** A data directory whose socket answers that it is ready, and all else by `answer`. */
async function beside(t: TestContext, answer: RequestListener): Promise<string> {
  const dataDir = temporaryFolder();
  const server = createServer((request, reply) => {
    if (request.url === '/api/ready') reply.end('{}');
    else answer(request, reply);
  });
  server.listen(findControlPath(dataDir));
  await once(server, 'listening');
  t.after(() => server.close());
  return dataDir;
}

const CALL = {
  query: 'plum',
  matches: 1,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

test('a daemon that goes during a search: what happened, and what to do', async (t) => {
  const endings: RequestListener[] = [
    (request) => request.socket.destroy(),
    (_, reply) => reply.write('{', () => reply.destroy()),
  ];
  const { signal } = new AbortController();
  for (const ending of endings) {
    const dataDir = await beside(t, ending);
    const daemon = await findOwnDaemon(dataDir);
    const message = `the daemon of ${dataDir} went away during the search; repeat it`;
    const error = { name: 'UsageError', message };
    await assert.rejects(openRemoteSearch(daemon!).search(CALL, signal), error);
    await assert.rejects(daemon!.folders(['a']), error);
  }
  const server = await startPlainServer((_request, _body, reply) => {
    reply.write('{', () => reply.destroy());
  });
  t.after(() => server.close());
  const search = openRemoteSearch(daemonAt(server.url, undefined)).search(CALL, signal);
  const message = `${server.url} went away during the search; repeat it`;
  await assert.rejects(search, { name: 'UsageError', message });
});

test('a daemon that refuses to list its folders gives the reason', async (t) => {
  const error = { statusCode: 503, errorCode: 'NOT_READY', message: 'the store is busy' };
  const dataDir = await beside(t, (_, reply) => reply.writeHead(503).end(JSON.stringify(error)));
  const daemon = await findOwnDaemon(dataDir);
  await assert.rejects(daemon!.folders(['a']), { name: 'RequestError', message: error.message });
});

const NOT_ROOT = process.getuid?.() !== 0 && 'only root can become another user';

test(
  'a data directory of another user: the reason and the remedy',
  { skip: NOT_ROOT },
  async (t) => {
    const dataDir = await beside(t, () => assert.fail('refused before'));
    const open = (): Promise<never> => assert.fail('not ours');
    // What is loaded as that user may be out of its reach.
    await import('../../daemon/index/catalog/lock.ts');
    process.seteuid?.(65_534);
    try {
      const message =
        /^\S+ is not open to this user \(.*EACCES.*\); run this as its owner, or name/;
      await assert.rejects(reach({ dataDir }, open, 0), { message });
      await assert.rejects(takeDataDir(path.join(dataDir, 'made')), { message });
    } finally {
      process.seteuid?.(0);
    }
  },
);
