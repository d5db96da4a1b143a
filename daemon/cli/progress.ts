// Shows progress of indexing on standard error: on a terminal a bar, else a plain line every few seconds.

import type { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';
import type { BuildProgress } from '../engine/build/build.ts';
import { formatBytes, formatCount, formatDuration } from './format.ts';
import { escapeControls } from './terminal-text.ts';

const LINE_INTERVAL_MS = 3000;

export interface IndexProgress extends Omit<BuildProgress, 'phase'> {
  readonly phase: BuildProgress['phase'] | 'symbols';
  readonly repo: string;
  readonly bytesPerSecond: number;
}

export type ProgressListener = (progress: IndexProgress) => void;

export interface ProgressView {
  readonly update: ProgressListener;
  stop(): void;
  /** Ends the display for good: a daemon continues to index, and its log reports that. */
  end(): void;
}

type View = Omit<ProgressView, 'end'>;

function ofTotal(done: string, total: number, format: (value: number) => string): string {
  return total > 0 ? `${done}/${format(total)}` : done;
}

/** Milliseconds until all bytes are read at the present speed; undefined: unknown. */
export function remainingMs(progress: IndexProgress): number | undefined {
  const { bytesDone, bytesTotal, bytesPerSecond } = progress;
  if (bytesTotal <= 0 || bytesPerSecond <= 0) return undefined;
  return (Math.max(0, bytesTotal - bytesDone) / bytesPerSecond) * 1000;
}

export function describeProgress(progress: IndexProgress): string {
  const { filesDone, filesTotal, bytesDone, bytesTotal, bytesPerSecond, skipped } = progress;
  const etaMs = remainingMs(progress);
  return [
    `${progress.phase} ${escapeControls(progress.repo)}:`,
    `${ofTotal(formatCount(filesDone), filesTotal, formatCount)} files,`,
    `${ofTotal(formatBytes(bytesDone), bytesTotal, formatBytes)},`,
    `${formatBytes(bytesPerSecond)}/s`,
    ...(etaMs === undefined ? [] : [`ETA ${formatDuration(etaMs)}`]),
    ...(skipped > 0 ? [`(${formatCount(skipped)} left out)`] : []),
  ].join(' ');
}

function lineView(stream: Writable, now: () => number): View {
  let printedAtMs = -Infinity;
  let startedAtMs = 0;
  let topic = '';
  let timer: NodeJS.Timeout | undefined;
  const show = (progress: IndexProgress): void => {
    printedAtMs = now();
    const spentMs = printedAtMs - startedAtMs;
    const spent = spentMs < LINE_INTERVAL_MS ? '' : `, ${formatDuration(spentMs)} so far`;
    stream.write(`${describeProgress(progress)}${spent}\n`);
  };
  return {
    update(progress) {
      const next = `${progress.phase} ${progress.repo}`;
      const isDue = next !== topic || now() - printedAtMs >= LINE_INTERVAL_MS;
      if (next !== topic) startedAtMs = now();
      topic = next;
      // Listing a large tree, and merging, take long without updates.
      clearInterval(timer);
      timer = setInterval(() => show(progress), LINE_INTERVAL_MS).unref();
      if (isDue) show(progress);
    },
    stop() {
      clearInterval(timer);
      topic = '';
    },
  };
}

/** Share of the work done, 0 to 1: by bytes if the total is known, else by files. */
function shareDone({ bytesDone, bytesTotal, filesDone, filesTotal }: IndexProgress): number {
  if (bytesTotal > 0) return Math.min(1, bytesDone / bytesTotal);
  return filesTotal > 0 ? Math.min(1, filesDone / filesTotal) : 0;
}

function barView(stream: Writable): View {
  const bar = new SingleBar(
    {
      stream,
      format: '{bar} {text}',
      barsize: 24,
      clearOnComplete: true,
      // A signal that ends the process would leave the terminal without them. Lines are cut at its width instead.
      hideCursor: false,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  return {
    update(progress) {
      const payload = { text: describeProgress(progress) };
      if (!bar.isActive) bar.start(1, 0, payload);
      bar.update(shareDone(progress), payload);
    },
    stop() {
      if (bar.isActive) bar.stop();
    },
  };
}

export function createProgress(
  stream: Writable,
  isTerminal: boolean,
  now: () => number = () => performance.now(),
): ProgressView {
  const view = isTerminal ? barView(stream) : lineView(stream, now);
  let isOver = false;
  return {
    update: (progress) => {
      if (!isOver) view.update(progress);
    },
    stop: view.stop,
    end: () => {
      isOver = true;
      view.stop();
    },
  };
}
