// Pages of a list: the selected items, and the headers `X-Total-Count` and `Link`.

import { z } from 'zod';
import type { HeaderShape } from './endpoint.ts';
import { integerText, perPageText, PER_PAGE_MAX } from './input.ts';

export function pageFields(perPageDefault: number) {
  return {
    page: integerText(1, Number.MAX_SAFE_INTEGER)
      .default(1)
      .meta({ description: 'Page number, from 1.', override: { default: 1 } }),
    perPage: perPageText()
      .default(perPageDefault)
      .meta({
        description: 'Items per page.',
        override: { default: perPageDefault, maximum: PER_PAGE_MAX },
      }),
  };
}

export const PAGE_HEADERS: Readonly<Record<string, HeaderShape>> = {
  'X-Total-Count': {
    description: 'Number of items over all pages.',
    type: 'integer',
    isRequired: true,
  },
  Link: {
    description:
      'Addresses of the existing pages among `first`, `prev`, `next`, `last`; absent if there is only one page.',
    type: 'string',
  },
};

export function pageAnswer<Item extends z.ZodType>(description: string, item: Item) {
  return { 200: { description, body: z.array(item), headers: PAGE_HEADERS } };
}

export interface PageRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
}

/** The page, and the endpoint's own parameters; undefined: not given. */
type ListQuery = PageRequest & Readonly<Record<string, string | number | undefined>>;

/** One page of `all`, and its headers; beyond the end it is empty. Parameters as for `pageHeaders`. */
export function paginate<Item>(
  all: readonly Item[],
  query: ListQuery,
  context: { readonly baseUrl: string },
  path: string,
): { readonly items: readonly Item[]; readonly headers: Readonly<Record<string, string>> } {
  const { offset, limit } = windowOf(query);
  const headers = pageHeaders(all.length, query, context, path);
  return { items: all.slice(offset, offset + limit), headers };
}

export function windowOf({ page, perPage }: PageRequest): { offset: number; limit: number } {
  return { offset: (page - 1) * perPage, limit: perPage };
}

/** Own parameters of `query` are repeated in the links, in this order; `path` is below the base URL. */
export function pageHeaders(
  total: number,
  { page, perPage, ...own }: ListQuery,
  { baseUrl }: { readonly baseUrl: string },
  path: string,
): Readonly<Record<string, string>> {
  const count = { 'X-Total-Count': String(total) };
  const lastPage = Math.ceil(total / perPage);
  if (lastPage <= 1) return count;
  const relations: [string, number][] = [['first', 1]];
  if (page > 1) relations.push(['prev', Math.min(page - 1, lastPage)]);
  if (page < lastPage) relations.push(['next', page + 1]);
  relations.push(['last', lastPage]);
  const links = relations.map(([name, target]) => {
    const query = new URLSearchParams({ page: String(target), perPage: String(perPage) });
    for (const [key, value] of Object.entries(own))
      if (value !== undefined) query.set(key, String(value));
    return `<${baseUrl}${path}?${query.toString()}>; rel="${name}"`;
  });
  return { ...count, Link: links.join(', ') };
}
