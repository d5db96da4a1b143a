// Reads a target with numbered pages, oldest repositories first, from the last page to the first: a removal moves later
// repositories towards pages that are still to be read, so none is missed. A repository added meanwhile is missed at most
// until the next listing.

import { answerFailure, type Question } from './failures.ts';
import type { Cursor, Listed, TargetPage } from './targets.ts';

export interface NumberedPage {
  readonly listed: readonly Listed[];
  /** Number of the last page; undefined: there is a next one, and the host does not report the last. */
  readonly last: number | undefined;
}

/** Bound: a listing that never ends; 500,000 entries in pages of 50. */
const PAGES_MAX = 10_000;
/** Cursors of pages read forward, because the last is unknown. */
const FORWARD = /^from (\d{1,5})$/;

/**
 * The page of a `listTargets` cursor.
 *
 * @param read  called with the number of a page, from 1 on
 *
 * Errors: HostError if page numbers are inconsistent; those of `read`.
 */
export async function readNumbered(
  cursor: Cursor | undefined,
  question: Question,
  read: (page: number) => Promise<NumberedPage>,
): Promise<TargetPage> {
  const forward = FORWARD.exec(String(cursor ?? 'from 1'));
  if (forward === null) return backward(Number(cursor), question, read);
  const page = Number(forward[1]);
  const { listed, last } = await read(page);
  if (page >= PAGES_MAX || (last ?? 0) > PAGES_MAX)
    throw answerFailure(`more than ${PAGES_MAX} pages`, question);
  // Page 1 is read again at the end: it has what moved there from later pages.
  if (page === 1 && last !== undefined && last > 1) return backward(last, question, read, true);
  return { listed, next: last !== undefined && last <= page ? undefined : `from ${page + 1}` };
}

async function backward(
  page: number,
  question: Question,
  read: (page: number) => Promise<NumberedPage>,
  isLast = false,
): Promise<TargetPage> {
  const { listed } = await read(page);
  // The last one may have become empty since it was counted.
  if (listed.length === 0 && page > 1 && !isLast)
    throw answerFailure(`page ${page} is empty, others behind it are not`, question);
  return { listed, next: page > 1 ? page - 1 : undefined };
}
