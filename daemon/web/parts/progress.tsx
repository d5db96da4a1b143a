// How far a job is: phase, share, and what is left of it. Numbers never run backwards while a phase goes on.

import { useRef } from 'react';
import { duration } from './words.ts';

interface JobProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly remainingMs: number | null;
}

/** Largest share of the phase so far; undefined: not known. */
function useShare({ phase, done, total }: JobProgress): number | undefined {
  const last = useRef({ phase, share: 0 });
  if (total <= 0) return undefined;
  const before = last.current.phase === phase ? last.current.share : 0;
  const share = Math.max(before, Math.min(1, done / total));
  last.current = { phase, share };
  return share;
}

/** To be given the id of its job as `key`. */
export function Progress({ progress }: { readonly progress: JobProgress }) {
  const { phase, remainingMs } = progress;
  const share = useShare(progress);
  return (
    <span className="progress">
      <progress value={share} max={1} aria-label={phase} />
      <span className="faint">
        {share === undefined ? '' : `${Math.floor(share * 100)} % `}
        {phase}
        {remainingMs === null ? '' : `, about ${duration(remainingMs)}`}
      </span>
    </span>
  );
}
