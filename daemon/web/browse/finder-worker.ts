// Finds files by parts of their paths. It fetches the file list of a repository once and ranks it in a worker, since a
// list may have a hundred thousand paths.

/// <reference lib="webworker" />

import type { getFiles } from '../../api/sources/tree-endpoints.ts';
import { call } from '../data/api.ts';
import { find } from './find-paths.ts';
import type { FromFinder, ToFinder } from './finder-messages.ts';

let paths: string[] = [];
let pattern = '';

function post(message: FromFinder): void {
  self.postMessage(message);
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
    post(find(paths, pattern));
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
  if (paths.length > 0) post(find(paths, pattern));
});
