// Runs a suite once for each HTTP adapter, with a reason where the native one cannot run.

import { afterEach, describe } from 'node:test';
import { loadUws } from '../../daemon/http/adapters/uws-adapter.ts';
import { closeWorlds } from './harness.ts';

let uwsFailure: string | undefined;
try {
  await loadUws();
} catch (error) {
  uwsFailure = `uWebSockets.js does not load here: ${String(error).split('\n')[0]}`;
}

/** Those that run here. */
export function adapters(): ('uws' | 'node')[] {
  return uwsFailure === undefined ? ['node', 'uws'] : ['node'];
}

export function onBothAdapters(name: string, suite: (kind: 'uws' | 'node') => void): void {
  const run = (kind: 'uws' | 'node') => {
    afterEach(closeWorlds);
    suite(kind);
  };
  describe(`${name} on node:http`, () => run('node'));
  describe(`${name} on uWebSockets.js`, { skip: uwsFailure ?? false }, () => run('uws'));
}
