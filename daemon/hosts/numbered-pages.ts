// Reads a target with numbered pages, oldest repositories first, from the last page to the first: a removal moves later
// repositories towards pages that are still to be read, so none is missed. A repository added meanwhile is missed at most
// until the next listing.

import { answerFailure, type Question } from './failures.ts';
import type { Cursor, Listed, TargetPage } from './targets.ts';

export interface NumberedPage {
  readonly listed: readonly Listed[];
  /** Number of the last page; undefined: there is a next one, and the host does not report the last. */
  readonly last: number | undefined;
  /** Repositories on all pages; absent: the host does not count them. */
  readonly total?: number | undefined;
}

type ReadNumbered = (page: number) => Promise<NumberedPage>;

/** Bound: a listing that never ends; 500,000 entries in pages of 50. */
const PAGES_MAX = 10_000;
/** Cursors of pages read forward, because the last is unknown. */
const FORWARD = /^from (\d{1,5})$/;
/** Cursors of pages read backward: the page, and the size of the first one. */
const BACKWARD = /^(\d{1,5}) of size (\d{1,5})$/;

/**
 * The page of a `listTargets` cursor; an unknown cursor is the start. `read` gets numbers of pages, from 1 on. Errors:
 * HostError if page numbers or counts are inconsistent; those of `read`.
 */
export async function readNumbered(
  cursor: Cursor | undefined,
  question: Question,
  read: ReadNumbered,
): Promise<TargetPage> {
  const [, number, size] = BACKWARD.exec(String(cursor)) ?? [];
  if (number !== undefined) return backward(Number(number), Number(size), question, read);
  const page = Number(FORWARD.exec(String(cursor))?.[1] ?? 1);
  const { listed, last } = await read(page);
  if (page >= PAGES_MAX || (last ?? 0) > PAGES_MAX)
    throw answerFailure(`more than ${PAGES_MAX} pages`, question);
  // Page 1 is read again at the end: it has what moved there from later pages.
  if (page === 1 && last !== undefined && last > 1)
    return backward(last, listed.length, question, read, true);
  return { listed, next: last !== undefined && last <= page ? undefined : `from ${page + 1}` };
}

async function backward(
  page: number,
  size: number,
  question: Question,
  read: ReadNumbered,
  isLast = false,
): Promise<TargetPage> {
  const { listed, total } = await read(page);
  // The last one may have become empty since it was counted.
  if (listed.length === 0 && page > 1 && !isLast)
    throw answerFailure(`page ${page} is empty, others behind it are not`, question);
  const expected = Math.min(size, (total ?? 0) - (page - 1) * size);
  if (listed.length < expected)
    throw answerFailure(
      `page ${page} has ${listed.length} repositories; with ${total} in all it has ${expected}`,
      question,
    );
  return { listed, next: page > 1 ? `${page - 1} of size ${size}` : undefined };
}
