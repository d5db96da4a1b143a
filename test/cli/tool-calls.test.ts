// Tool calls of `trawl mcp`: the first search waits for the index, with progress; an index that cannot be opened is
// retried; the process that owns the data directory serves the others.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallExtra } from '../../daemon/api/mcp/tool-server.ts';
import { TOOLS } from '../../daemon/api/mcp/tools/tools.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { findControlPath } from '../../daemon/base/config/control-path.ts';
import { createLog } from '../../daemon/base/log.ts';
import { callControl } from '../../daemon/cli/control-client.ts';
import { ToolCalls } from '../../daemon/cli/tool-calls.ts';
import { makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';

const FILES = { 'src/a.c': 'int plum;\n\nint pear; // plum\n', 'src/b.h': 'extern int plum;\n' };
const FOUND = /^Found 3 matches in 2 files\n\[\S+\] src\/a\.c:\n  1: int plum;/;

const opened: ToolCalls[] = [];
afterEach(async () => {
  for (const calls of opened.splice(0).toReversed()) await calls.close();
});

/** @param indexWaitMs  undefined: as long as users wait */
function open(
  source: string,
  dataDir = temporaryFolder(),
  indexWaitMs?: number,
  env: Readonly<Record<string, string>> = {},
): ToolCalls {
  const configuration = readConfiguration({ env: { TRAWL_DATA_DIR: dataDir, ...env } });
  const log = createLog({ ...configuration.log, write: () => {} });
  const wait = indexWaitMs === undefined ? {} : { indexWaitMs };
  const calls = new ToolCalls({ configuration, log, sources: [source], ...wait });
  opened.push(calls);
  return calls;
}

/** The text of a search for `plum`. */
async function grep(calls: ToolCalls, onMessage?: (message: unknown) => void): Promise<string> {
  const tool = TOOLS.find(({ name }) => name === 'grep');
  const extra = {
    signal: new AbortController().signal,
    _meta: { progressToken: 1 },
    sendNotification: async ({ params }: { params: { message?: unknown } }) =>
      onMessage?.(params.message),
  };
  const call = extra as unknown as CallExtra;
  const { content } = await calls.run(tool!, { pattern: 'plum' }, call);
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

test('the first search waits for the index, and reports progress', async () => {
  const messages: unknown[] = [];
  assert.match(await grep(open(makeRepo(FILES)), (one) => messages.push(one)), FOUND);
  assert.equal(messages[0], 'the index is being built');
});

test('a search that waited reports how far the index is', async () => {
  const calls = open(makeRepo(FILES), temporaryFolder(), 0);
  await assert.rejects(grep(calls), /the index is being built.*; try again in a while/);
  for (let text = ''; !FOUND.test(text); await sleep(20)) text = await grep(calls).catch(String);
});

test('an index that cannot be opened is retried by a later call', async () => {
  const folder = temporaryFolder();
  const dataDir = path.join(folder, 'data');
  mkdirSync(path.join(dataDir, 'store.db'), { recursive: true });
  const source = path.join(folder, 'source');
  const calls = open(source, dataDir);
  await assert.rejects(grep(calls), /the index cannot be opened/);
  rmSync(dataDir, { recursive: true });
  await assert.rejects(grep(calls), /the index cannot be opened: .*source/);
  mkdirSync(source);
  writeFiles(source, { 'a.c': 'int plum;\n' });
  assert.match(await grep(calls), /^Found 1 matches in 1 files\n/);
});

test('a second process searches through the owner, names its own sources as not searched, and becomes the owner', async () => {
  const dataDir = temporaryFolder();
  const [shared, other] = [makeRepo(FILES), makeRepo({ 'c.c': 'int plum;\n' })];
  const first = open(shared, dataDir);
  assert.match(await grep(first), FOUND);
  const second = open(other, dataDir);
  const found = await grep(second);
  assert.match(found, FOUND);
  const note = `\nNot searched: ${other}. Another process owns the data directory ${dataDir}, and`;
  assert.ok(found.includes(note), found);
  const third = open(path.join(shared, 'src'), dataDir);
  assert.doesNotMatch(await grep(third), /Not searched/);
  await first.close();
  opened.shift();
  assert.match(await grep(second), /^Found 1 matches in 1 files\n\[\S+\] c\.c:[^]*int plum;\s*$/);
});

test('its daemon has no address; the operator sees what is not ready', async () => {
  const dataDir = temporaryFolder();
  await grep(open(makeRepo(FILES), dataDir));
  const answer = async (address: string): Promise<string> => {
    const call = { method: 'GET', path: address, account: 'test' };
    return text(await callControl(findControlPath(dataDir), call));
  };
  assert.match(await answer('/api/status'), /"url":null,/);
  assert.match(await answer('/api/ready'), /"repositories":1,/);
});

test('connections of the configuration are not applied', async () => {
  const dataDir = temporaryFolder();
  const file = path.join(temporaryFolder(), 'config.json');
  const other = { type: 'git', url: `file://${makeRepo(FILES)}` };
  writeFileSync(file, JSON.stringify({ connections: { other } }));
  const calls = open(makeRepo(FILES), dataDir, undefined, { TRAWL_CONFIG: file });
  assert.match(await grep(calls), FOUND);
  const call = { method: 'GET', path: '/api/connections', account: 'test' };
  const listed = await text(await callControl(findControlPath(dataDir), call));
  assert.doesNotMatch(listed, /"name":"other"/);
});
