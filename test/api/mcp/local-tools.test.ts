// The tools on a local index: the first call waits for it, with progress; what is not indexed yet is said; an index that
// cannot be opened now may be opened later.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { createLog } from '../../../daemon/base/log.ts';
import type { ToolProgress } from '../../../daemon/api/mcp/tools/tool.ts';
import { TOOLS } from '../../../daemon/api/mcp/tools/tools.ts';
import { LocalTools } from '../../../daemon/app/local-tools.ts';
import { makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';

const FILES = { 'src/a.c': 'int plum;\n\nint pear; // plum\n', 'src/b.h': 'extern int plum;\n' };
const FOUND = /^Found 3 matches in 2 files\n\[\S+\] src\/a\.c:\n  1: int plum;/;
const NOTE = /not indexed yet and were not searched/;
const ATTEMPTS_MAX = 20;

/** @param indexWaitMs  undefined: as long as users wait */
function openTools(
  sources: readonly string[],
  dataDir = temporaryFolder(),
  indexWaitMs?: number,
): LocalTools {
  const env = { TRAWL_DATA_DIR: dataDir, TRAWL_SECRET: 's'.repeat(32) };
  const configuration = readConfiguration({ env });
  const log = createLog({ ...configuration.log, write: () => {} });
  const wait = indexWaitMs === undefined ? {} : { indexWaitMs };
  return new LocalTools({ configuration, log, sources, ...wait });
}

async function callTool(
  tools: LocalTools,
  name: string,
  args: object,
  onProgress?: (progress: ToolProgress) => void,
): Promise<string> {
  const tool = TOOLS.find((one) => one.name === name);
  const { signal } = new AbortController();
  return await tools.with(signal, onProgress, async (context) => await tool!.run(args, context));
}

void test('the first call waits for the index, and is told how far it is', async () => {
  const tools = openTools([makeRepo(FILES)]);
  const reported: ToolProgress[] = [];
  assert.match(
    await callTool(tools, 'grep', { pattern: 'plum' }, (one) => reported.push(one)),
    FOUND,
  );
  assert.match(reported[0]?.message ?? '', /^the index is being built$/);
  await tools.close();
});

void test('a call that has waited says how far the index is', async () => {
  const tools = openTools([makeRepo(FILES)], temporaryFolder(), 0);
  const grep = () => callTool(tools, 'grep', { pattern: 'plum' });
  await assert.rejects(grep(), /the index is being built.*; try again in a while/);
  for (let text = ''; !FOUND.test(text); await sleep(20)) text = await grep().catch(String);
  await tools.close();
});

void test('repositories that are not indexed yet are a gap of the others', async () => {
  const dataDir = temporaryFolder();
  const first = makeRepo(FILES);
  const before = openTools([first], dataDir);
  await callTool(before, 'grep', { pattern: 'plum' });
  await before.close();
  let text = '';
  // The second one may be indexed by the time of the call.
  for (let attempt = 0; attempt < ATTEMPTS_MAX && !NOTE.test(text); attempt++) {
    const tools = openTools([first, makeRepo(FILES)], dataDir, 0);
    text = await callTool(tools, 'grep', { pattern: 'plum' });
    await tools.close();
    assert.match(text, /^Found [36] matches/);
  }
  assert.match(text, NOTE);
});

void test('an index that cannot be opened is opened by a later call', async () => {
  const folder = temporaryFolder();
  const dataDir = path.join(folder, 'data');
  writeFileSync(dataDir, 'in the way');
  const source = path.join(folder, 'source');
  const tools = openTools([source], dataDir);
  const grep = () => callTool(tools, 'grep', { pattern: 'plum' });
  await assert.rejects(grep(), /the index cannot be opened/);
  rmSync(dataDir);
  await assert.rejects(grep(), /the index cannot be opened: .*source/);
  mkdirSync(source);
  writeFiles(source, { 'a.c': 'int plum;\n' });
  assert.match(await grep(), /^Found 1 matches in 1 files\n/);
  await tools.close();
});
