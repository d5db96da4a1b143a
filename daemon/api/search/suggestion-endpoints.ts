// GET /api/suggestions: completions for a query; files and symbols need a search permit.

import { z } from 'zod';
import { SUGGESTION_KINDS } from '../../engine/query/request.ts';
import { type CallContext, endpoint, ok } from '../shapes/endpoint.ts';
import { boundedText, choiceText, integerText, requiredText } from '../shapes/input.ts';
import { text } from '../shapes/schemas.ts';
import { explainMissingLicence } from './search-endpoints.ts';
import { QUERY_SIZE_MAX } from './search-schemas.ts';

const PREFIX_SIZE_MAX = 256;
const COUNT_MAX = 50;
const COUNT_DEFAULT = 10;

const suggestionsQuery = z.object({
  kind: choiceText(SUGGESTION_KINDS).meta({
    description: 'The prefix whose value is being typed.',
  }),
  prefix: requiredText()
    .max(PREFIX_SIZE_MAX, { error: `longer than ${PREFIX_SIZE_MAX} characters` })
    .describe(
      `The typed part of the value, taken literally, case-insensitive; at most ${PREFIX_SIZE_MAX} characters.`,
    ),
  query: boundedText(QUERY_SIZE_MAX)
    .optional()
    .meta({
      description: 'Filters of the rest of the query: suggestions match them.',
      override: { maxLength: QUERY_SIZE_MAX },
    }),
  limit: integerText(1, COUNT_MAX)
    .optional()
    .meta({
      description: 'Maximum number of suggestions.',
      override: { default: COUNT_DEFAULT },
    }),
});

const suggestion = z
  .object({
    value: text('A name, a path, a language, a revision or a context, unquoted.'),
    description: text('A short description.').optional(),
  })
  .meta({ id: 'Suggestion', description: 'A completion of a query.' });

/** Undefined: no permit is free soon. Errors: those of `admit`. */
async function withPermit(context: CallContext): Promise<CallContext | undefined> {
  const admitted = context.calls.admit();
  const timeUp = new Promise<undefined>((resolve) => {
    setTimeout(resolve, 40, undefined).unref();
  });
  // A later permit is released at once, as the response is over.
  admitted.catch(() => {});
  const permit = await Promise.race([admitted, timeUp]);
  return permit === undefined ? undefined : { ...context, permit };
}

export const getSuggestions = endpoint(
  {
    operationId: 'listSuggestions',
    method: 'GET',
    path: '/api/suggestions',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'Complete a query',
    description:
      'For queries that are being typed. Answers within 100 ms with what was found until then, limited to what the caller sees.',
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
  async ({ query: { limit = COUNT_DEFAULT, ...request } }, context) => {
    const isSearch = request.kind === 'file' || request.kind === 'sym';
    const permitted = isSearch ? await withPermit(context) : context;
    if (permitted === undefined) return ok([]);
    const found = context.services.search.suggest({ ...request, limit }, permitted);
    return ok(await explainMissingLicence(context.accounts, found));
  },
);
