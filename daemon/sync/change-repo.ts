// What a command line changes of the repos that it names: which revisions they have, and who may see them.

import type { RepoRecord } from '../repos/records.ts';
import { type SelectionChange, withSelection } from './select-revisions.ts';

/** Absent: it stays. */
export interface RepoChange extends SelectionChange {
  readonly visibility?: Exclude<RepoRecord['visibility'], 'unknown'>;
  /** `none`: whoever may ask sees the repo. */
  readonly enforcement?: 'none' | 'restricted' | 'all';
}

/** A record with the change made. */
export function withChange(record: RepoRecord, change: RepoChange): RepoRecord {
  const { enforcement: before, ...rest } = withSelection(record, change);
  const { visibility = record.visibility, enforcement = before ?? 'none' } = change;
  return { ...rest, visibility, ...(enforcement === 'none' ? {} : { enforcement }) };
}
