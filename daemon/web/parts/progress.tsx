// How far a job is: phase, share, and what is left of it.

import { milliseconds } from './words.ts';

interface JobProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly remainingMs: number | null;
}

export function Progress({ progress }: { readonly progress: JobProgress }) {
  const { phase, done, total, remainingMs } = progress;
  const isKnown = total > 0;
  const share = isKnown ? Math.min(1, done / total) : undefined;
  return (
    <span className="progress">
      <progress value={share} max={1} aria-label={phase} />
      <span className="faint">
        {share === undefined ? '' : `${Math.floor(share * 100)} % `}
        {phase}
        {remainingMs === null ? '' : `, about ${milliseconds(remainingMs)}`}
      </span>
    </span>
  );
}
