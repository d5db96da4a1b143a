// A changed instance secret invalidates every credential: the log says so, once, and how to revert.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import { createLog } from '../../daemon/base/log.ts';
import { openControl } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

const VOID = /instance secret has changed/;

/** What one start with this secret logs. */
async function linesOfStart(folder: string, secret: string | undefined): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  const env = { TRAWL_DATA_DIR: folder, TRAWL_SECRET: secret };
  const directory = new RepoDirectory(() => []);
  const control = await openControl(readConfiguration({ env }), directory, log);
  await control.close();
  return lines.filter((line) => VOID.test(line));
}

test('a start with another secret logs an error, one with the same does not', async () => {
  const folder = temporaryFolder();
  assert.deepEqual(await linesOfStart(folder, undefined), []);
  assert.deepEqual(await linesOfStart(folder, undefined), []);
  const [line = '', ...more] = await linesOfStart(folder, 'x'.repeat(40));
  assert.equal(JSON.parse(line).level, 'error');
  assert.match(line, /TRAWL_SECRET/);
  assert.doesNotMatch(line, /x{40}/);
  assert.deepEqual(more, []);
  assert.deepEqual(await linesOfStart(folder, 'x'.repeat(40)), []);
  // What was made with the first one works again.
  const [back = ''] = await linesOfStart(folder, undefined);
  assert.match(back, /made with the former one are void/);
});
