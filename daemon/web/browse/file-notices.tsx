// Warnings about a file: searches do not find it or find a different text; lines, bytes or blame are not what they
// seem.

import type { LineRange } from '../code/line-range.ts';
import { changesOrder } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { notSearched } from '../parts/skip-reasons.ts';
import { count, counted } from '../parts/number-format.ts';
import type { IndexEntry } from './index-entry.ts';

/** Stands for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/** @param blobSha  git id of the text on display; undefined: unknown */
export function isOtherThanIndexed(entry: IndexEntry | undefined, blobSha: string | undefined) {
  return (
    entry?.state === 'there' &&
    entry.blobSha !== undefined &&
    blobSha !== undefined &&
    entry.blobSha !== blobSha
  );
}

/** For files whose content is not searched. */
export function NotSearched({ entry }: { readonly entry: IndexEntry | undefined }) {
  switch (entry?.state) {
    case 'waiting':
      return (
        <Notice
          kind="info"
          title="This repository is not indexed yet. Searches find nothing in it."
        />
      );
    case 'absent':
      return (
        <Notice
          kind="info"
          title="Searches do not find this file. A rule excludes it, or it is newer than the index."
        />
      );
    case 'there':
      return entry.skipReason === undefined ? null : (
        <Notice kind="info" title={notSearched(entry.skipReason)}>
          Searches find this file by name only.
        </Notice>
      );
    default:
      return null;
  }
}

/** For a link that was made for a different text. */
function BeyondTheEnd({ range, lineCount }: Pick<FileNoticesProps, 'range' | 'lineCount'>) {
  if (range === undefined || range.from <= Math.max(lineCount, 1)) return null;
  return (
    <Notice
      kind="warn"
      title={`The address names line ${count(range.from)}, but the file has ${counted(lineCount, 'line')}. It may have changed since the link was made.`}
    />
  );
}

export interface FileNoticesProps {
  readonly entry: IndexEntry | undefined;
  readonly text: string;
  readonly lineCount: number;
  /** The lines that the address names. */
  readonly range: LineRange | undefined;
  /** Is the indexed text different? */
  readonly isChanged: boolean;
  /** Shows the committed file; undefined: it is already on display, or blame is off. */
  readonly showCommitted: (() => void) | undefined;
}

export function FileNotices(props: FileNoticesProps) {
  const { entry, text, isChanged, showCommitted } = props;
  return (
    <>
      <NotSearched entry={entry} />
      {isChanged && (
        <Notice
          kind="warn"
          title="The file changed since it was indexed. Searches use the old text; matches are not marked here."
        />
      )}
      <BeyondTheEnd {...props} />
      {showCommitted !== undefined && (
        <Notice
          kind="warn"
          title="The file on disk differs from the committed one, so there is no blame."
          action={{ label: 'Show the committed file', run: showCommitted }}
        />
      )}
      {changesOrder(text) && (
        <Notice kind="warn" title="This file has characters that change the order of the text." />
      )}
      {text.includes(REPLACEMENT) && (
        <Notice
          kind="info"
          title={`${REPLACEMENT} may stand for bytes that are not UTF-8. The raw file has the original bytes.`}
        />
      )}
    </>
  );
}
