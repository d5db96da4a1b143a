// Reads ref fingerprints of many repositories in a thread. A repository whose file system does not answer keeps its own
// thread until it does, and is skipped meanwhile; the others are read in a new thread.

import { Worker } from 'node:worker_threads';
import { threadFile } from '../../base/program-files.ts';

/** The thread's work; `progress` is shared memory with its progress. */
export interface RefPoll {
  readonly paths: readonly string[];
  readonly progress: Int32Array;
}

/** Bound: delay of other repositories by a disk that does not answer; reading one takes 60 us. */
const DEADLINE_MS = 1_000;
/** Blocked threads. Bound: memory, 5 MB each. With more of them nothing is read until one is back. */
const STUCK_MAX = 16;

export interface RefPollerOptions {
  /** Default: DEADLINE_MS. */
  readonly deadlineMs?: number;
  /** Script of the thread, for tests. */
  readonly thread?: URL;
}

export class RefPoller {
  readonly #deadlineMs: number;
  readonly #file: URL;
  #thread: Worker | undefined;
  /** Repositories that block a thread. */
  readonly #stuck = new Set<string>();
  readonly #stop = new AbortController();

  constructor(options: RefPollerOptions = {}) {
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.#file = options.thread ?? threadFile('ref-poll-worker');
  }

  /**
   * A fingerprint per repository that changes when its refs change; undefined: no answer. One call at a time. Errors: none.
   */
  async poll(paths: readonly string[]): Promise<readonly (string | undefined)[]> {
    for (;;) {
      const readable = paths.filter((path) => !this.#stuck.has(path));
      if (readable.length === 0 || this.#stuck.size >= STUCK_MAX || this.#stop.signal.aborted)
        return paths.map(() => undefined);
      const states = await this.#poll(readable);
      if (states === 'stuck') continue;
      const byPath = new Map(readable.map((path, index) => [path, states?.[index]]));
      return paths.map((path) => byPath.get(path));
    }
  }

  /** 'stuck': one of them blocks from now on; undefined: the thread has ended, or this is closed. */
  async #poll(paths: readonly string[]): Promise<readonly string[] | 'stuck' | undefined> {
    this.#thread ??= new Worker(this.#file);
    const thread = this.#thread;
    thread.unref();
    const progress = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    const states = await new Promise<readonly string[] | undefined>((resolve) => {
      const end = (): void => settle(undefined);
      let before = -1;
      const timer = setInterval(() => {
        const now = Atomics.load(progress, 0);
        if (now === before && now >= 0) end();
        before = now;
      }, this.#deadlineMs);
      const settle = (found: readonly string[] | undefined): void => {
        clearInterval(timer);
        thread.off('message', settle).off('error', end).off('exit', end);
        this.#stop.signal.removeEventListener('abort', end);
        resolve(found);
      };
      thread.on('message', settle).on('error', end).on('exit', end);
      this.#stop.signal.addEventListener('abort', end);
      thread.postMessage({ paths, progress } satisfies RefPoll);
    });
    if (states !== undefined) return states;
    const path = paths[Atomics.load(progress, 0)];
    this.#giveUp(thread, path);
    return path === undefined ? undefined : 'stuck';
  }

  /** Abandons a thread that may be blocked by a repository. */
  #giveUp(thread: Worker, path: string | undefined): void {
    this.#thread = undefined;
    if (path !== undefined) this.#stuck.add(path);
    thread.on('error', () => {});
    // It ends when its last call returns.
    void thread.terminate().then(() => path !== undefined && this.#stuck.delete(path));
    // Why again: terminating a thread makes the process wait for it.
    thread.unref();
  }

  /** Ends a running read. Blocked threads are abandoned. */
  close(): void {
    this.#stop.abort();
    void this.#thread?.terminate();
    this.#thread?.unref();
  }
}
