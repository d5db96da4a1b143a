// Pages of a list: the selected items, and the headers `X-Total-Count` and `Link`.

import { z } from 'zod';
import type { HeaderShape } from './endpoint.ts';
import { integerText, perPageText, PER_PAGE_MAX } from './input.ts';

/** Schema fields `page` and `perPage`, to be spread into a query schema. */
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

/** The headers of `paginate`. */
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

/** The successful answer of an endpoint with pages. */
export function pageAnswer<Item extends z.ZodType>(description: string, item: Item) {
  return { 200: { description, body: z.array(item), headers: PAGE_HEADERS } };
}

export interface PageRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One page of `all`; beyond the end it is empty.
 *
 * @param url         absolute address of the list, without query
 * @param parameters  the endpoint's own parameters in the order to repeat them; undefined = not given
 */
export function paginate<Item>(
  all: readonly Item[],
  { page, perPage }: PageRequest,
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Page<Item> {
  const start = (page - 1) * perPage;
  const { headers } = pageOf(all.length, { page, perPage }, url, parameters);
  return { items: all.slice(start, start + perPage), headers };
}

export function windowOf({ page, perPage }: PageRequest): { offset: number; limit: number } {
  return { offset: (page - 1) * perPage, limit: perPage };
}

/** The headers of a page whose items were selected elsewhere; parameters as for `paginate`. */
export function pageOf(
  total: number,
  { page, perPage }: PageRequest,
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Pick<Page<never>, 'headers'> {
  const headers: Record<string, string> = { 'X-Total-Count': String(total) };
  const lastPage = Math.ceil(total / perPage);
  if (lastPage > 1) headers['Link'] = linkHeader({ page, perPage }, lastPage, url, parameters);
  return { headers };
}

function linkHeader(
  { page, perPage }: PageRequest,
  lastPage: number,
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const relations: [string, number][] = [['first', 1]];
  if (page > 1) relations.push(['prev', Math.min(page - 1, lastPage)]);
  if (page < lastPage) relations.push(['next', page + 1]);
  relations.push(['last', lastPage]);
  return relations
    .map(([name, target]) => {
      const query = new URLSearchParams({ page: String(target), perPage: String(perPage) });
      for (const [key, value] of Object.entries(parameters)) {
        if (value !== undefined) query.set(key, value);
      }
      return `<${url}?${query.toString()}>; rel="${name}"`;
    })
    .join(', ');
}
