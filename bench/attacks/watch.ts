// Starts the thread that watches a daemon, and its messages.

import { Worker } from 'node:worker_threads';

export type Phase = 'calm' | 'attack' | 'rest';
/** A phase begins; the watch ends; `blame` names the cause of what follows. */
export type WatchMessage = Phase | 'over' | { readonly blame: string };

export interface WatchData {
  readonly url: string;
  readonly pid: number;
  /** Of the caller that asks for the word. */
  readonly headers: Readonly<Record<string, string>>;
  readonly word: string;
  /** Default: the word. */
  readonly expected?: string;
}

/** A request belongs to the phase in which it was sent. */
export interface PhaseSamples {
  readonly healthMs: number[];
  readonly wordMs: number[];
  /** Maximum ms of the main thread between a health request and its answer, by cause. */
  readonly stopsMs: Record<string, number>;
  /** RssAnon in bytes, last and maximum. */
  memorySize: number;
  memorySizeMax: number;
  /** By path and kind. */
  readonly faults: Record<string, number>;
}

export type Phases = Readonly<Record<Phase, PhaseSamples>>;

export type WatchReport =
  | { readonly kind: 'memory'; readonly phase: Phase; readonly size: number }
  | { readonly kind: 'seen'; readonly phase: Phase }
  | { readonly kind: 'over'; readonly phases: Phases };

export interface Watch {
  /** Resolves when there is a sample; a request without an answer ends after two minutes. */
  enter(phase: Phase): Promise<void>;
  blame(name: string): void;
  finish(): Promise<Phases>;
}

/** `onMemory` gets the daemon's memory in bytes, ten times a second. */
export function startWatch(data: WatchData, onMemory: (size: number) => void): Watch {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./watch-worker.${extension}`, import.meta.url), {
    workerData: data,
  });
  const waiting = new Map<Phase, () => void>();
  const over = new Promise<Phases>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (report: WatchReport) => {
      if (report.kind === 'memory') onMemory(report.size);
      else if (report.kind === 'seen') waiting.get(report.phase)?.();
      else resolve(report.phases);
    });
  });
  over.catch(() => {}); // finish() tells
  return {
    enter: (phase) =>
      new Promise((resolve) => {
        waiting.set(phase, resolve);
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
