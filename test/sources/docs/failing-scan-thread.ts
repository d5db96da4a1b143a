// A thread for scans that fails, ends or blocks, by the path of the source.

import { parentPort } from 'node:worker_threads';
import type { ScanOrder } from '../../../daemon/sources/docs/scan-worker.ts';

const port = parentPort!;

port.on('message', ({ id, scan }: ScanOrder) => {
  const path = scan.kind === 'list' ? scan.spec.path : '';
  if (path === '/throws') throw new Error('out of luck');
  if (path === '/ends') process.exit();
  if (path === '/blocks') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (path !== '/silent') port.postMessage({ kind: 'done', id, result: { fingerprint: path } });
});
