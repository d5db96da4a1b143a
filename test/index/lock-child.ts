// A process that locks and unlocks a data directory, as its parent says; for lock.test.ts.

import { spawn } from 'node:child_process';
import { closeSync, openSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { LockedError, lockDataDir } from '../../daemon/index/catalog/lock.ts';

/** What the parent asks for; each is answered. */
export type Order =
  | { readonly kind: 'take'; readonly dataDir: string; readonly atMs: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'spawn' }
  | { readonly kind: 'churn'; readonly dataDir: string; readonly ownedMax: number };

/** `clashes`: how often another process owned it at the same time. */
export type Answer =
  | { readonly kind: 'won' | 'released' | 'ready' }
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'spawned'; readonly pid: number }
  | { readonly kind: 'churned'; readonly clashes: number };

let unlock = (): void => {};

function take({ dataDir, atMs }: Extract<Order, { kind: 'take' }>): Answer {
  while (Date.now() < atMs);
  try {
    unlock = lockDataDir(dataDir);
    return { kind: 'won' };
  } catch (error) {
    if (error instanceof LockedError) return { kind: 'lost', message: error.message };
    throw error;
  }
}

/** Owns the directory so many times, beside others that do the same. */
function churn({ dataDir, ownedMax }: Extract<Order, { kind: 'churn' }>): Answer {
  const mark = path.join(dataDir, 'owned');
  let clashes = 0;
  for (let owned = 0; owned < ownedMax;) {
    try {
      unlock = lockDataDir(dataDir, true);
    } catch (error) {
      if (error instanceof LockedError) continue;
      throw error;
    }
    owned++;
    try {
      closeSync(openSync(mark, 'wx'));
      unlinkSync(mark);
    } catch {
      clashes++;
    }
    unlock();
  }
  return { kind: 'churned', clashes };
}

function apply(order: Order): Answer {
  if (order.kind === 'take') return take(order);
  if (order.kind === 'churn') return churn(order);
  if (order.kind === 'spawn')
    return { kind: 'spawned', pid: spawn('sleep', ['60'], { stdio: 'ignore' }).pid ?? 0 };
  unlock();
  return { kind: 'released' };
}

process.on('message', (order: Order) => process.send?.(apply(order)));
process.send?.({ kind: 'ready' });
