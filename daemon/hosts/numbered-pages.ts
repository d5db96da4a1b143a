// Reads a target with numbered pages, oldest repositories first, from the last page to the first: a removal moves later
// repositories towards pages that are still to be read, so none is missed. A repository added meanwhile is missed at most
// until the next listing.

import { answerFailure, type Question } from './failures.ts';
import type { Listed } from './targets.ts';

export interface NumberedPage {
  readonly listed: readonly Listed[];
  /** Number of the last page; undefined: there is a next one, and the host does not report the last. */
  readonly last: number | undefined;
  /** Repositories on all pages; absent: the host does not count them. */
  readonly total?: number | undefined;
}

type ReadNumbered = (page: number) => Promise<NumberedPage>;

/**
 * The pages of a target; without an end if the host names no last one, which targets.ts bounds. `read` gets numbers of pages,
 * from 1 on. Errors: HostError if page numbers or counts are inconsistent; those of `read`.
 */
export async function* numberedPages(
  question: Question,
  read: ReadNumbered,
): AsyncGenerator<readonly Listed[]> {
  const first = await read(1);
  const { last } = first;
  const size = first.listed.length;
  // Page 1 is read again at the end: it has what moved there from later pages.
  const backwardCount = last !== undefined && last > 1 ? last : 0;
  for (let page = backwardCount; page >= 1; page--) {
    const { listed, total } = await read(page);
    // The last one may have become empty since it was counted.
    if (listed.length === 0 && page > 1 && page !== last)
      throw answerFailure(`page ${page} is empty, others behind it are not`, question);
    const expected = Math.min(size, (total ?? 0) - (page - 1) * size);
    if (listed.length < expected)
      throw answerFailure(
        `page ${page} has ${listed.length} repositories; with ${total} in all it has ${expected}`,
        question,
      );
    yield listed;
  }
  if (backwardCount > 0) return;
  let current = first;
  for (let page = 1; ; page++) {
    if (page > 1) current = await read(page);
    yield current.listed;
    if (current.last !== undefined && current.last <= page) return;
  }
}
