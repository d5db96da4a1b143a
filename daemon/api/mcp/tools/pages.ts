// Paging of list tools: the arguments, and JSON that names the next page.

import { jsonInteger } from '../../shapes/input.ts';
import { PER_PAGE_MAX } from '../../shapes/input.ts';
import type { PageRequest } from '../../shapes/pagination.ts';

export function pageArguments(perPage: number) {
  return {
    page: jsonInteger(1).default(1),
    perPage: jsonInteger(1)
      .refine((value) => value <= PER_PAGE_MAX, { error: `expected at most ${PER_PAGE_MAX}` })
      .default(perPage),
  };
}

export function partOf(
  list: { readonly totalCount: number; readonly [name: string]: unknown },
  { page, perPage }: PageRequest,
): string {
  const isLast = page * perPage >= list.totalCount;
  return JSON.stringify(isLast ? list : { ...list, nextPage: page + 1 });
}
