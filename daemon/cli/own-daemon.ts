// The daemon that runs on a data directory of this machine, reached through its control socket: it has the index open already.

import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { listRepoRules } from '../api/sources/repo-rule-endpoints.ts';
import type { AnswerOf } from '../api/shapes/endpoint.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { Daemon } from './remote-search.ts';

/** Guess: longer than a busy daemon takes; then the index is opened here. */
const SILENCE_MS = 1_000;

/** Undefined: none runs, or it does not answer searches yet. */
export async function findOwnDaemon(dataDir: string): Promise<Daemon | undefined> {
  const socketPath = findControlPath(dataDir);
  if (!existsSync(socketPath)) return undefined;
  // Why here: a search without a daemon needs no HTTP.
  const { callControl, systemAccount } = await import('./control-client.ts');
  const account = systemAccount();
  const get = (path: string, signal?: AbortSignal) =>
    callControl(socketPath, { method: 'GET', path, account, ...(signal && { signal }) });
  try {
    const ready = await get('/api/ready', AbortSignal.timeout(SILENCE_MS));
    ready.resume();
    if (ready.statusCode !== 200) return undefined;
  } catch {
    return undefined;
  }
  return {
    name: `the daemon of ${dataDir}`,
    advice: '',
    async post(endpoint, body, signal) {
      const path = `/${endpoint}`;
      const answer = await callControl(socketPath, { method: 'POST', path, body, account, signal });
      const { statusCode: status = 0, headers } = answer;
      return { status, contentType: headers['content-type'] ?? '', body: answer };
    },
    async folders(names) {
      const wanted = new Set(names);
      const found = new Map<string, string>();
      for (let page = 1; ; page++) {
        const answer = await get(`/api/ee/repos?page=${page}&perPage=5000`);
        // Safety: the daemon's tests check every answer against its schema.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const rows = JSON.parse(await text(answer)) as AnswerOf<typeof listRepoRules>;
        for (const { repo, path } of rows)
          if (path !== null && wanted.has(repo)) found.set(repo, path);
        if (found.size === wanted.size || rows.length === 0) return found;
      }
    },
  };
}
