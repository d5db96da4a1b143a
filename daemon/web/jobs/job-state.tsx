// The state of a job, repository or connection: an icon, a word, and progress.

import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react';
import { ICON } from '../parts/icon.ts';
import { Progress } from '../parts/progress.tsx';
import type { Job } from './job-queries.ts';

const STATES = {
  ready: { Icon: CircleCheck, className: 'state ok' },
  failed: { Icon: CircleX, className: 'state danger' },
  running: { Icon: LoaderCircle, className: 'state' },
  waiting: { Icon: CircleDashed, className: 'state faint' },
} as const;

interface StateProps {
  readonly kind: keyof typeof STATES;
  readonly word: string;
  /** Its progress is displayed while it runs. */
  readonly job?: Job | null | undefined;
}

export function State({ kind, word, job }: StateProps) {
  const { Icon, className } = STATES[kind];
  return (
    <span className={className}>
      <Icon {...ICON} /> {word}
      {kind === 'running' && job?.progress !== null && job?.progress !== undefined && (
        <Progress key={job.id} progress={job.progress} />
      )}
    </span>
  );
}

const WORDS = {
  PENDING: { kind: 'waiting', word: 'Waiting' },
  IN_PROGRESS: { kind: 'running', word: 'Running' },
  COMPLETED: { kind: 'ready', word: 'Done' },
  FAILED: { kind: 'failed', word: 'Failed' },
} as const;

/** The state of a job. A job that waits for a retry says so. */
export function JobState({ job }: { readonly job: Job }) {
  const { kind, word } = WORDS[job.status];
  const isAgain = job.status === 'PENDING' && job.errorMessage !== null;
  return <State kind={kind} word={isAgain ? 'Failed, will be retried' : word} job={job} />;
}
