// The symbol pass: its output, order and counts, and early ends.
// tier: ci (long)

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ShardError, Space } from '../../../daemon/engine/host/space.ts';
import { BuildThreads } from '../../../daemon/engine/build/build-threads.ts';
import { buildRepo } from '../../../daemon/engine/build/build.ts';
import type { Extractor } from '../../../daemon/engine/symbols/extractor.ts';
import type { FoundSymbol } from '../../../daemon/engine/symbols/found.ts';
import { SymbolPasses, type SymbolPassOptions } from '../../../daemon/engine/symbols/pass.ts';
import type { PassResult } from '../../../daemon/engine/symbols/pass-worker.ts';
import {
  type PassBlob,
  passOver,
  type PassProgress,
} from '../../../daemon/engine/symbols/pass-loop.ts';
import { createLog } from '../../../daemon/base/log.ts';
import { once } from '../../base/once.ts';
import {
  cannotCountMappings,
  coreModule,
  countMappings,
  temporaryFolder,
} from '../host/harness.ts';
import { expectedSymbols, SAMPLES, sampleContent } from './samples.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  cpp: 'cc',
  csharp: 'cs',
  elixir: 'ex',
  hcl: 'tf',
  javascript: 'js',
  kotlin: 'kt',
  makefile: 'mk',
  protobuf: 'proto',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  shell: 'sh',
  solidity: 'sol',
  typescript: 'ts',
};

const FILTERS = { maxFileSize: 1 << 20, maxTrigramCount: 1 << 20, alwaysIndexFilePatterns: [] };
const NEVER = new AbortController().signal;

/** A shard of samples, each of them twice, and files without symbols. */
async function sampleShard(kept?: BuildThreads, samples = SAMPLES): Promise<string> {
  const folder = temporaryFolder();
  const source = path.join(folder, 'source');
  mkdirSync(path.join(source, 'copies'), { recursive: true });
  for (const [name] of samples) {
    const file = `${name}.${EXTENSIONS[name] ?? name}`;
    writeFileSync(path.join(source, file), sampleContent(name));
    writeFileSync(path.join(source, 'copies', file), sampleContent(name));
  }
  writeFileSync(path.join(source, 'data.json'), '{"key": 1}\n');
  writeFileSync(path.join(source, 'empty.c'), '');
  writeFileSync(path.join(source, 'binary.c'), 'int a;\0');
  const module = await coreModule('release');
  const threads = kept ?? new BuildThreads(module, 2);
  const { shards } = await buildRepo({
    module,
    spec: { kind: 'folder', path: source },
    repoId: 1,
    repoName: 'samples',
    filters: FILTERS,
    folder,
    threads,
  });
  if (kept === undefined) await threads.close();
  return shards[0]!.path;
}

const allSamples = once(() => sampleShard());

/** A copy of the shard of all samples, in a folder of its own. */
async function copyShard(): Promise<string> {
  const shardPath = path.join(temporaryFolder(), 'samples.shard');
  copyFileSync(await allSamples(), shardPath);
  return shardPath;
}

const outPathOf = (shardPath: string): string => `${shardPath}.symbols`;

async function runSymbolPass(
  shardPath: string,
  options: Partial<SymbolPassOptions> = {},
): Promise<PassResult> {
  const passes = new SymbolPasses(await coreModule('release'));
  const { log } = spyLog();
  try {
    return await passes.run({ shardPath, outPath: outPathOf(shardPath), log, ...options });
  } finally {
    await passes.close();
  }
}

function spyLog(): { log: ReturnType<typeof createLog>; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  return { log, lines };
}

test('the symbols of a shard become a valid file', async () => {
  const shardPath = await copyShard();
  const outPath = outPathOf(shardPath);
  const { log, lines } = spyLog();
  const result = await runSymbolPass(shardPath, {
    log,
    concurrency: 2,
    engines: ['tree-sitter', 'patterns'],
  });
  const expected = SAMPLES.flatMap(([name, , engines]) => expectedSymbols(name, engines.at(-1)!));
  assert.equal(result.symbolCount, expected.length);
  assert.equal(result.fileCount, SAMPLES.length);
  assert.equal(result.failureCount, 0);
  assert.deepEqual(result.engines, ['tree-sitter', 'patterns']);
  assert.deepEqual(lines, []);
  assert.equal(result.size, statSync(outPath).size);
  const space = new Space(await coreModule('release'));
  const symbols = { path: outPath, size: result.size };
  const size = statSync(shardPath).size;
  assert.ok(space.open({ shardId: 'a', path: shardPath, size, symbols }));
});

test('files with a failing engine are counted and reported, the others have their symbols', async () => {
  // Each file has a process of its own, as the one before was given up.
  const few = SAMPLES.filter(([name]) => ['go', 'java', 'sql', 'zig'].includes(name));
  const shardPath = await sampleShard(undefined, few);
  const { log, lines } = spyLog();
  const result = await runSymbolPass(shardPath, {
    log,
    concurrency: 1,
    fileTimeoutMs: 0,
    engines: ['tree-sitter'],
  });
  // No process starts in no time, though one that runs may read a small file in it.
  const read = few.filter(([, , engines]) => engines.includes('tree-sitter'));
  const { failureCount } = result;
  assert.ok(failureCount > 0 && failureCount <= read.length, String(failureCount));
  if (failureCount === read.length) assert.equal(result.symbolCount, 0);
  assert.match(lines.join(''), /"path":"[^"]*".*"failure":"timeout"/);
  assert.match(lines.join(''), new RegExp(`"failureCount":${failureCount}\\b`));
  assert.ok(existsSync(outPathOf(shardPath)));
});

test('without engines there are no symbols, and no failure', async () => {
  const result = await runSymbolPass(await copyShard(), { engines: [] });
  assert.deepEqual(
    [result.symbolCount, result.fileCount, result.failureCount, result.engines],
    [0, 0, 0, []],
  );
});

test('a damaged shard, a missing folder: an error, no file, no thread', async () => {
  const shardPath = await copyShard();
  await assert.rejects(
    runSymbolPass(shardPath, { engines: [], outPath: '/nowhere/at/all' }),
    /ENOENT/,
  );
  truncateSync(shardPath, 5000);
  await assert.rejects(runSymbolPass(shardPath), /shard/);
  assert.ok(!existsSync(outPathOf(shardPath)));
});

test('a changed byte anywhere in the shard is detected before reading', async () => {
  const shardPath = await copyShard();
  const valid = readFileSync(shardPath);
  // Also what no engine would read: the end of the contents, postings.
  for (const share of [0.1, 0.3, 0.6, 0.9]) {
    const bytes = Buffer.from(valid);
    bytes[Math.floor(bytes.length * share)]! ^= 1;
    writeFileSync(shardPath, bytes);
    await assert.rejects(runSymbolPass(shardPath, { engines: [] }), (error: unknown) => {
      assert.ok(error instanceof ShardError, String(error));
      assert.match(error.reason, /^(?:page \d+ is damaged|header checksum)$/);
      return true;
    });
    assert.ok(!existsSync(outPathOf(shardPath)));
  }
  writeFileSync(shardPath, valid);
  await runSymbolPass(shardPath, { engines: [] });
});

test('an aborted pass leaves nothing', async () => {
  const shardPath = await copyShard();
  const before = AbortSignal.abort(new Error('before'));
  await assert.rejects(runSymbolPass(shardPath, { signal: before }), /before/);
  const controller = new AbortController();
  const running = runSymbolPass(shardPath, { signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  await assert.rejects(running, /no longer wanted/);
  assert.ok(!existsSync(outPathOf(shardPath)));
});

const SYMBOL: FoundSymbol = { start: 0, size: 1, kind: 0 };

function blobOf(blobId: number, size = 10): PassBlob {
  const language = blobId % 3 === 0 ? '' : 'C';
  return { path: `${blobId}.c`, language, content: Buffer.alloc(size, String(blobId)) };
}

/** An extractor whose answers come when they are let go, in any order. */
function slowExtractor(): {
  extractor: Extractor;
  letGo: (index: number) => void;
  requested: number[];
} {
  const requested: number[] = [];
  const waiting: (() => void)[] = [];
  const extractor: Extractor = {
    engines: ['ctags'],
    engineOf: (language) => (language === '' ? undefined : 'ctags'),
    async extract(_, content) {
      const blobId = Number(Buffer.from(content.subarray(0, 1)).toString());
      requested.push(blobId);
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (blobId === 4) return { failure: 'crash', detail: 'it crashed' };
      const symbols = blobId === 5 ? [] : [SYMBOL, SYMBOL];
      if (blobId === 8) return { symbols, failedEngine: 'tree-sitter failed: it crashed' };
      return blobId === 7 ? { symbols, unread: [{ start: 2, end: 6 }] } : { symbols };
    },
    close: () => Promise.resolve(),
  };
  return { extractor, letGo: (index) => waiting[index]?.(), requested };
}

test('symbols are in the order of the contents, whichever finishes first', async () => {
  const { extractor, letGo, requested } = slowExtractor();
  const added: number[] = [];
  const reported: PassProgress[] = [];
  const source = { blobCount: 9, contentSize: 90, blob: (id: number) => blobOf(id) };
  const sink = {
    addBlob(blobId: number, symbols: readonly FoundSymbol[]): number {
      added.push(blobId);
      return symbols.length - 1;
    },
  };
  const running = passOver(source, extractor, sink, {
    signal: NEVER,
    onProgress: (progress) => reported.push(progress),
  });
  for (const index of [5, 3, 1, 4, 2]) letGo(index);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(added, []);
  letGo(0);
  const totals = await running;
  assert.deepEqual(requested, [1, 2, 4, 5, 7, 8]);
  assert.deepEqual(added, [1, 2, 7, 8]);
  assert.deepEqual(totals, {
    fileCount: 6,
    symbolCount: 4,
    failureCount: 1,
    failures: [{ path: '4.c', failure: 'crash', detail: 'it crashed' }],
    partlyReadCount: 2,
    partlyRead: [
      {
        path: '7.c',
        detail:
          '4 of 10 bytes have a syntax that the parser does not know; the first are on line 1',
      },
      { path: '8.c', detail: 'tree-sitter failed: it crashed' },
    ],
  });
  assert.deepEqual(reported.at(-1), {
    blobsDone: 9,
    blobsTotal: 9,
    bytesDone: 90,
    bytesTotal: 90,
  });
});

test('a content whose symbols have no room is a failure; the others have theirs', async () => {
  const { extractor, letGo } = slowExtractor();
  const source = { blobCount: 3, contentSize: 30, blob: (id: number) => blobOf(id) };
  const sink = { addBlob: (blobId: number) => (blobId === 1 ? undefined : 2) };
  const running = passOver(source, extractor, sink, { signal: NEVER, onProgress: () => {} });
  letGo(0);
  letGo(1);
  const { symbolCount, failureCount, failures } = await running;
  assert.deepEqual([symbolCount, failureCount], [2, 1]);
  assert.match(`${failures[0]?.path} ${failures[0]?.detail}`, /^1\.c too many names/);
});

test('reading ahead is limited', async () => {
  const { extractor, letGo, requested } = slowExtractor();
  const source = { blobCount: 9, contentSize: 9 << 25, blob: (id: number) => blobOf(id, 1 << 25) };
  const sink = { addBlob: () => 1 };
  const running = passOver(source, extractor, sink, { signal: NEVER, onProgress: () => {} });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(requested, [1, 2]);
  for (let index = 0; index < 6; index++) {
    letGo(index);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await running).fileCount, 6);
});

test('builds and passes leave no mapping', { skip: cannotCountMappings }, async () => {
  const module = await coreModule('release');
  const { log } = spyLog();
  const engines = ['tree-sitter'] as const;
  // Why not all: what a pass maps does not depend on how much it reads.
  const one = SAMPLES.filter(([name]) => name === 'go');
  // Those of a daemon live on.
  const passes = new SymbolPasses(module);
  const threads = new BuildThreads(module, 2);
  const run = async (): Promise<void> => {
    const shardPath = await sampleShard(threads, one);
    const { symbolCount } = await passes.run({
      shardPath,
      outPath: outPathOf(shardPath),
      log,
      engines,
    });
    assert.ok(symbolCount > 0);
  };
  for (let i = 0; i < 3; i++) await run();
  const counts: number[] = [];
  for (let i = 0; i < 12; i++) {
    await run();
    counts.push(countMappings());
  }
  // What a run leaves behind comes with each run: once it was two threads with three mappings each. Heaps grow now and then,
  // by twenty or thirty mappings.
  const window = 4;
  const growth = counts.slice(window).map((count, index) => count - counts[index]!);
  const least = Math.min(...growth);
  await passes.close();
  await threads.close();
  assert.ok(least < 2 * window, `${least} mappings more after ${window} runs: ${counts.join(' ')}`);
});
