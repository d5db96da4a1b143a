// A file: its content, or why it cannot be shown.

import { ApiFailure } from '../data/api.ts';
import { Notice } from '../parts/notice.tsx';
import { size } from '../parts/number-format.ts';
import type { BrowseTarget } from './address.ts';
import { isPicture, tooLargeSize } from './file-kind.ts';
import { NotSearched } from './file-notices.tsx';
import { type IndexEntry, useIndexEntry } from './index-entry.ts';
import { LoadedFile } from './loaded-file.tsx';
import { Missing } from './missing.tsx';
import { useSource } from './file-queries.ts';

interface FailureProps {
  readonly target: BrowseTarget;
  readonly error: Error;
  readonly entry: IndexEntry | undefined;
  readonly retry: () => void;
}

function isMissing(error: Error): boolean {
  if (!(error instanceof ApiFailure)) return false;
  return error.statusCode === 404 || error.errorCode === 'INVALID_GIT_REF';
}

function Failure({ target, error, entry, retry }: FailureProps) {
  if (isMissing(error)) return <Missing target={target} isIndexed={entry?.state === 'there'} />;
  const bytes = tooLargeSize(error.message);
  if (bytes !== undefined)
    return (
      <>
        <Notice kind="info" title={`Too large to show (${size(bytes)}).`} />
        <NotSearched entry={entry} />
      </>
    );
  return <Notice kind="danger" title={error.message} action={{ label: 'Try again', run: retry }} />;
}

/** Why one line of a picture: the text of a picture is not shown, only its other facts are needed. */
export function FileView({ target }: { readonly target: BrowseTarget }) {
  const { data, error, refetch } = useSource(target, isPicture(target.path) ? 1 : undefined);
  // Fetched at once: its notice is above the file, and would push the file down if it came late.
  const entry = useIndexEntry(target);
  const common = { target, entry };
  if (data !== undefined) return <LoadedFile {...common} source={data} />;
  if (error === null) return null;
  return <Failure {...common} error={error} retry={() => void refetch()} />;
}
