// Pages of tools that list: their arguments, and JSON that says which page is next.

import { jsonInteger } from '../../shapes/input.ts';
import { PER_PAGE_MAX, type PageRequest } from '../../shapes/pagination.ts';

/** The arguments `page` and `perPage`. */
export function pageArguments(perPage: number) {
  return {
    page: jsonInteger(1).default(1),
    perPage: jsonInteger(1)
      .refine((value) => value <= PER_PAGE_MAX, { error: `expected at most ${PER_PAGE_MAX}` })
      .default(perPage),
  };
}

/** A page as JSON, with `nextPage` where there is more. */
export function partOf(
  list: { readonly totalCount: number; readonly [name: string]: unknown },
  { page, perPage }: PageRequest,
): string {
  const isLast = page * perPage >= list.totalCount;
  return JSON.stringify(isLast ? list : { ...list, nextPage: page + 1 });
}
