// Commands beside a daemon that does not answer.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { findControlPath } from '../../daemon/base/config/control-path.ts';
import { reach } from '../../daemon/cli/operator.ts';
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
