// The progress of a job: phase, share and remaining time. The share never decreases within a phase.

import { useRef } from 'react';
import { duration } from './number-format.ts';

interface JobProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly remainingMs: number | null;
}

/** Largest share reached in this phase; undefined: unknown. */
function useShare({ phase, done, total }: JobProgress): number | undefined {
  const last = useRef({ phase, share: 0 });
  if (total <= 0) return undefined;
  const before = last.current.phase === phase ? last.current.share : 0;
  const share = Math.max(before, Math.min(1, done / total));
  last.current = { phase, share };
  return share;
}

/** Needs the job's id as its React `key`. */
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
