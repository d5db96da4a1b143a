// Readers work in worker threads, from posted values only. The file is its own worker.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DocReader } from '../../../daemon/sources/docs/doc-reader.ts';
import { openSource } from '../../../daemon/sources/docs/open-source.ts';
import type { SourceFile } from '../../../daemon/sources/docs/file-list.ts';
import type { SourceSpec } from '../../../daemon/sources/docs/source.ts';
import { commitAll, makeRepo } from '../git/fixture.ts';

interface Work {
  readonly spec: SourceSpec;
  readonly files: SourceFile[];
}

async function readTexts({ spec, files }: Work): Promise<string[]> {
  const texts: string[] = [];
  const reader = new DocReader(spec.path);
  await reader.read(files, (_, bytes) => texts.push(Buffer.from(bytes ?? []).toString()));
  await reader.close();
  return texts;
}

if (isMainThread) {
  test('a worker reads files listed by the main thread', async () => {
    const repo = makeRepo({ a: 'alpha', b: 'beta' });
    writeFileSync(Buffer.concat([Buffer.from(`${repo}/c`), Buffer.of(0xff)]), 'raw');
    const commit = commitAll(repo);
    for (const kind of ['commits', 'worktree', 'folder'] as const) {
      const spec: SourceSpec =
        kind === 'commits' ? { kind, path: repo, commit } : { kind, path: repo };
      const { files } = await openSource(spec).list();
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { spec, files: [...files] },
      });
      const texts = await new Promise((resolve, reject) => {
        worker.once('message', resolve).once('error', reject);
      });
      await worker.terminate();
      assert.deepEqual(texts, ['alpha', 'beta', 'raw'], kind);
    }
  });
} else {
  const work: Work = workerData;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
  parentPort?.postMessage(await readTexts(work));
}
