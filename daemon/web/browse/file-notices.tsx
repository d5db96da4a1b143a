// What is to be known of the text of a file before one trusts what one sees: that searches do not find it, or find another
// text; that lines, bytes or blame are not what they seem.

import type { LineRange } from '../code/line-range.ts';
import { changesOrder } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { notSearched } from '../parts/skip-reasons.ts';
import { count, counted } from '../parts/words.ts';
import type { IndexEntry } from './index-entry.ts';

/** What stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** @param blobSha  git id of the text that is shown; undefined: not known */
export function isOtherThanIndexed(entry: IndexEntry | undefined, blobSha: string | undefined) {
  return (
    entry?.state === 'there' &&
    entry.blobSha !== undefined &&
    blobSha !== undefined &&
    entry.blobSha !== blobSha
  );
}

/** Of files that searches do not find by their content. */
export function NotSearched({ entry }: { readonly entry: IndexEntry | undefined }) {
  switch (entry?.state) {
    case 'waiting':
      return (
        <Notice
          kind="info"
          title="This repository is not indexed yet: searches find nothing in it."
        />
      );
    case 'absent':
      return (
        <Notice
          kind="info"
          title="Searches do not find this file: rules leave it out, or it is newer than the index."
        />
      );
    case 'there':
      return entry.skipReason === undefined ? null : (
        <Notice kind="info" title={notSearched(entry.skipReason)}>
          Searches find this file by its name alone.
        </Notice>
      );
    default:
      return null;
  }
}

/** A link that was made for another text. */
function BeyondTheEnd({ range, lineCount }: Pick<FileNoticesProps, 'range' | 'lineCount'>) {
  if (range === undefined || range.from <= Math.max(lineCount, 1)) return null;
  return (
    <Notice
      kind="warn"
      title={`The address names line ${count(range.from)}, and there ${lineCount === 1 ? 'is' : 'are'} ${counted(lineCount, 'line')}: the file may have changed since.`}
    />
  );
}

export interface FileNoticesProps {
  readonly entry: IndexEntry | undefined;
  readonly text: string;
  readonly lineCount: number;
  /** The lines that the address names. */
  readonly range: LineRange | undefined;
  /** Do searches find another text? */
  readonly isChanged: boolean;
  /** Shows the file as it is committed; undefined: it is as it is shown, or nobody has asked for blame. */
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
          title="The file changed since it was indexed: searches find what it was, and their matches are not marked."
        />
      )}
      <BeyondTheEnd {...props} />
      {showCommitted !== undefined && (
        <Notice
          kind="warn"
          title="The file on disk is not as it is committed, so there is no blame of it."
          action={{ label: 'Show what is committed', run: showCommitted }}
        />
      )}
      {changesOrder(text) && (
        <Notice kind="warn" title="This file has characters that change the order of text." />
      )}
      {text.includes(REPLACEMENT) && (
        <Notice
          kind="info"
          title={`Where this file shows ${REPLACEMENT} it may have other bytes, which are not UTF-8; the raw file has them.`}
        />
      )}
    </>
  );
}
