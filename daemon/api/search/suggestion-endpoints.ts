// GET /api/suggestions: what somebody who types a query may mean. The search service finds it; files and symbols take the place
// of a search.

import { z } from 'zod';
import { SUGGESTION_KINDS } from '../../engine/query/request.ts';
import { type CallContext, endpoint, ok } from '../shapes/endpoint.ts';
import { boundedText, choiceText, integerText, requiredText } from '../shapes/input.ts';
import { text } from '../shapes/schemas.ts';
import { withContexts } from './search-endpoints.ts';
import { QUERY_SIZE_MAX } from './search-schemas.ts';

const PREFIX_SIZE_MAX = 256;
const COUNT_MAX = 50;
const COUNT_DEFAULT = 10;
/** Unit: ms. Where no place is free after that, nothing is suggested. */
const PLACE_WAIT_MS = 40;

const suggestionsQuery = z.object({
  kind: choiceText(SUGGESTION_KINDS).meta({
    description: 'What is typed: the value of this prefix.',
  }),
  prefix: requiredText()
    .refine((prefix) => prefix.length <= PREFIX_SIZE_MAX, {
      error: `longer than ${PREFIX_SIZE_MAX} characters`,
    })
    .meta({
      description: `What has been typed of the value, taken literally, in any case; at most ${PREFIX_SIZE_MAX} characters.`,
      override: { maxLength: PREFIX_SIZE_MAX },
    }),
  query: boundedText(QUERY_SIZE_MAX)
    .optional()
    .meta({
      description: 'The rest of the query, filters alone: what it leaves out is not suggested.',
      override: { maxLength: QUERY_SIZE_MAX },
    }),
  limit: integerText(1, COUNT_MAX)
    .optional()
    .meta({
      description: 'How many at most.',
      override: { default: COUNT_DEFAULT },
    }),
});

const suggestion = z
  .object({
    value: text('A name, a path, a language, a revision or a context, as it is.'),
    description: text('What it is, in a few words.').optional(),
  })
  .meta({ id: 'Suggestion', description: 'What a query may be completed by.' });

/** The context with the place of a search; undefined: none is free soon. Errors: those of `admit`. */
async function withPlace(context: CallContext): Promise<CallContext | undefined> {
  const admitted = context.calls.admit();
  const timeUp = new Promise<undefined>((resolve) => {
    setTimeout(resolve, PLACE_WAIT_MS, undefined).unref();
  });
  // A place that comes later goes back at once, as the response is over.
  admitted.catch(() => {});
  const place = await Promise.race([admitted, timeUp]);
  return place === undefined ? undefined : { ...context, place };
}

export const getSuggestions = endpoint(
  {
    operationId: 'listSuggestions',
    method: 'GET',
    path: '/api/suggestions',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'What a query may be completed by',
    description:
      'For those who type a query. Answers within 100 ms, with what is known by then, of what the caller sees.',
    input: { query: suggestionsQuery },
    responses: {
      200: { description: 'The suggestions, best first.', body: z.array(suggestion) },
    },
    errors: [
      'FAILED_TO_PARSE_QUERY',
      'INSUFFICIENT_PERMISSIONS',
      'SEARCH_CONTEXT_NOT_FOUND',
      'SERVER_OVERLOADED',
    ],
  },
  async ({ query: { limit = COUNT_DEFAULT, ...asked } }, context) => {
    const isSearch = asked.kind === 'file' || asked.kind === 'sym';
    const placed = isSearch ? await withPlace(context) : context;
    if (placed === undefined) return ok([]);
    const found = context.services.search.suggest({ ...asked, limit }, placed);
    return ok(await withContexts(context.accounts, found));
  },
);
