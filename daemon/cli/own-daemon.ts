// The daemon that runs on a data directory of this machine, reached through its control socket: it has the index open already.

import { existsSync } from 'node:fs';
import type { listRepoRules } from '../api/sources/repo-rule-endpoints.ts';
import type { AnswerOf } from '../api/shapes/endpoint.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { ControlCall } from './control-client.ts';
import { type Daemon, lostError, readBody, refusal } from './remote-search.ts';

/** Bound: as in operator.ts. After it the index is opened here. */
const SILENCE_MS = 1_000;

/** Undefined: none runs, or it does not answer searches yet. */
export async function findOwnDaemon(dataDir: string): Promise<Daemon | undefined> {
  const socketPath = findControlPath(dataDir);
  if (!existsSync(socketPath)) return undefined;
  // Why here: a search without a daemon needs no HTTP.
  const { callControl, systemAccount } = await import('./control-client.ts');
  const account = systemAccount();
  try {
    const signal = AbortSignal.timeout(SILENCE_MS);
    const call = { method: 'GET', path: '/api/ready', account, signal };
    const ready = await callControl(socketPath, call);
    ready.resume();
    if (ready.statusCode !== 200) return undefined;
  } catch {
    return undefined;
  }
  const name = `the daemon of ${dataDir}`;
  const ask = (method: string, path: string, more: Partial<ControlCall> = {}) =>
    callControl(socketPath, { method, path, account, ...more }).catch((error: unknown) => {
      throw more.signal?.aborted === true ? error : lostError(name, error);
    });
  return {
    name,
    advice: '',
    async post(endpoint, body, signal) {
      const answer = await ask('POST', `/${endpoint}`, { body, signal });
      const { statusCode: status = 0, headers } = answer;
      return { status, contentType: headers['content-type'] ?? '', body: answer };
    },
    async folders(names) {
      const wanted = new Set(names);
      const found = new Map<string, string>();
      for (let page = 1; ; page++) {
        const endpoint = `api/ee/repos?page=${page}&perPage=5000`;
        const answer = await ask('GET', `/${endpoint}`);
        const { statusCode: status = 0 } = answer;
        const listed = await readBody(name, answer);
        if (status !== 200) throw refusal({ name, advice: '' }, endpoint, status, listed);
        // Safety: the daemon's tests check every answer against its schema.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const rows = listed as AnswerOf<typeof listRepoRules>;
        for (const { repo, path } of rows)
          if (path !== null && wanted.has(repo)) found.set(repo, path);
        if (found.size === wanted.size || rows.length === 0) return found;
      }
    },
  };
}
