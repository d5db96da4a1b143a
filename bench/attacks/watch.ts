// Starts and asks the thread that watches a daemon; what passes between the two.

import { Worker } from 'node:worker_threads';

/** Before, during and after an attack. */
export type Phase = 'calm' | 'attack' | 'rest';
/** A phase begins; the watch ends; what is seen from now on is the doing of `blame`. */
export type WatchMessage = Phase | 'over' | { readonly blame: string };

export interface WatchData {
  readonly url: string;
  readonly pid: number;
  /** Of the caller that asks for the word. */
  readonly headers: Readonly<Record<string, string>>;
  readonly word: string;
  /** What each answer to it holds; default: the word. */
  readonly expected?: string;
}

/** What was seen in one phase; a request belongs to the phase in which it was sent. */
export interface PhaseSamples {
  readonly healthMs: number[];
  readonly wordMs: number[];
  /** Most processor time of the main thread between a request for health and its answer, in ms, by who is to blame. */
  readonly stopsMs: Record<string, number>;
  /** RssAnon in bytes, last and most. */
  memorySize: number;
  memorySizeMax: number;
  /** Requests that were not answered with what they ask for, by path and kind. */
  readonly faults: Record<string, number>;
}

export type Phases = Readonly<Record<Phase, PhaseSamples>>;

export type WatchReport =
  | { readonly kind: 'memory'; readonly phase: Phase; readonly size: number }
  /** Health and word have each been answered or refused once in this phase. */
  | { readonly kind: 'seen'; readonly phase: Phase }
  | { readonly kind: 'over'; readonly phases: Phases };

export interface Watch {
  /** Begins a phase. Resolves when something is known of it; a request that gets no answer ends after two minutes. */
  enter(phase: Phase): Promise<void>;
  blame(name: string): void;
  /** Ends it. */
  finish(): Promise<Phases>;
}

/** @param onMemory  hears of the daemon's memory in bytes, ten times a second */
export function startWatch(data: WatchData, onMemory: (size: number) => void): Watch {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./watch-worker.${extension}`, import.meta.url), {
    workerData: data,
  });
  const seen = new Map<Phase, () => void>();
  const over = new Promise<Phases>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (report: WatchReport) => {
      if (report.kind === 'memory') onMemory(report.size);
      else if (report.kind === 'seen') seen.get(report.phase)?.();
      else resolve(report.phases);
    });
  });
  over.catch(() => {}); // finish() tells
  return {
    enter: (phase) =>
      new Promise((resolve) => {
        seen.set(phase, resolve);
        worker.postMessage(phase satisfies WatchMessage);
      }),
    blame: (name) => {
      worker.postMessage({ blame: name } satisfies WatchMessage);
    },
    async finish() {
      worker.postMessage('over' satisfies WatchMessage);
      const result = await over;
      await worker.terminate();
      return result;
    },
  };
}
