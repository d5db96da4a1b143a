// Blame of the text that is shown: where files on disk are shown it is of what is committed, which may be another text.

import { ApiFailure } from '../data/api.ts';
import type { BrowseTarget } from './address.ts';
import { useBlame, useCommittedId } from './history-reading.ts';
import type { Blame } from './history-reading.ts';
import type { IndexEntry } from './index-entry.ts';

interface FileBlame {
  /** Undefined: not known, or not of this text. */
  readonly blame: Blame | undefined;
  /** Is another text committed? */
  readonly isOfOther: boolean;
  /** Why there is none; '': nothing went wrong. */
  readonly fault: string;
}

/** A file that is there to see, and not to be blamed, is in no commit. */
function faultOf(error: Error | null): string {
  if (error === null) return '';
  const isUncommitted =
    error instanceof ApiFailure &&
    (error.errorCode === 'FILE_NOT_FOUND' || error.errorCode === 'INVALID_GIT_REF');
  return isUncommitted ? 'This file is in no commit.' : error.message;
}

/** @param displayedId  git id of the text that is shown */
export function useFileBlame(
  target: BrowseTarget,
  displayedId: string | undefined,
  entry: IndexEntry | undefined,
  isOn: boolean,
): FileBlame {
  const mayDiffer = isOn && entry?.state === 'there' && entry.isOfHead;
  const { data, error } = useBlame(target, isOn);
  const committed = useCommittedId(target, mayDiffer);
  const isOfOther =
    mayDiffer && typeof committed.data === 'string' && committed.data !== displayedId;
  const isUnchanged = !mayDiffer || !committed.isPending;
  return {
    blame: isOn && isUnchanged && !isOfOther ? data : undefined,
    isOfOther,
    fault: isOn ? faultOf(error) : '',
  };
}
