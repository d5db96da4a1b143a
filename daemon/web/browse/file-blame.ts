// Blame of the file on display. Blame covers the committed text; a file on disk may differ from it.

import { ApiFailure } from '../data/api.ts';
import type { BrowseTarget } from './address.ts';
import { type Blame, useBlame, useCommittedId } from './history-queries.ts';
import type { IndexEntry } from './index-entry.ts';

interface FileBlame {
  /** Undefined: not ready, or blame of a different text. */
  readonly blame: Blame | undefined;
  /** Does the committed text differ from the text on display? */
  readonly isOfOther: boolean;
  /** Why there is no blame; '': no error. */
  readonly fault: string;
}

/** The file exists but blame does not find it: it is in no commit. */
function faultOf(error: Error | null): string {
  if (error === null) return '';
  const isUncommitted =
    error instanceof ApiFailure &&
    (error.errorCode === 'FILE_NOT_FOUND' || error.errorCode === 'INVALID_GIT_REF');
  return isUncommitted ? 'This file is not committed.' : error.message;
}

/** @param displayedId  git id of the text on display */
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
