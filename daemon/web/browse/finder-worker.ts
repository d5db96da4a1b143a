// Finds files by parts of their paths. It fetches the file list of a repository once and ranks it in a worker, since a
// list may have a hundred thousand paths.

/// <reference lib="webworker" />

import UFuzzy from '@leeoniya/ufuzzy';
import type { getFiles } from '../../api/sources/tree-endpoints.ts';
import { call } from '../data/api.ts';
import type { FoundPath, FromFinder, ToFinder } from './finder-messages.ts';

/** Paths in one answer. */
const RESULTS_MAX = 50;
/** More matches than this are not ranked. */
const RANKED_MAX = 20_000;

const fuzzy = new UFuzzy({ intraMode: 0, intraChars: '.', intraIns: 12 });

let paths: string[] = [];
let pattern = '';

function post(message: FromFinder): void {
  self.postMessage(message);
}

function marksOf(ranges: readonly number[] | undefined): FoundPath['marks'] {
  const all = ranges ?? [];
  return all.flatMap((from, index) =>
    index % 2 === 0 ? [{ from, to: all[index + 1] ?? from }] : [],
  );
}

function find(text: string): FromFinder {
  if (text.trim() === '') {
    const first = paths.slice(0, RESULTS_MAX).map((path) => ({ path, marks: [] }));
    return { type: 'found', text, paths: first, total: paths.length };
  }
  const [indexes, info, order] = fuzzy.search(paths, text, 1, RANKED_MAX);
  const best: FoundPath[] =
    info === null || order === null
      ? (indexes ?? []).slice(0, RESULTS_MAX).map((at) => ({ path: paths[at] ?? '', marks: [] }))
      : order.slice(0, RESULTS_MAX).map((at) => ({
          path: paths[info.idx[at] ?? 0] ?? '',
          marks: marksOf(info.ranges[at]),
        }));
  return { type: 'found', text, paths: best, total: indexes?.length ?? 0 };
}

async function open({ base, repo, revision, seen }: Extract<ToFinder, { readonly type: 'open' }>) {
  try {
    const files = await call<typeof getFiles>('/api/files', {
      base,
      method: 'POST',
      body: { repoName: repo, revisionName: revision },
    });
    const there = new Set(files.map(({ path }) => path));
    paths = [...new Set([...seen.filter((path) => there.has(path)), ...there])];
    post(find(pattern));
  } catch (error) {
    post({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ToFinder>) => {
  if (data.type === 'open') {
    void open(data);
    return;
  }
  pattern = data.text;
  if (paths.length > 0) post(find(pattern));
});
