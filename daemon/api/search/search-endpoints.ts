// POST /api/search, /api/stream_search and /api/explain. Validates and clamps; the search service does the rest.

import { ORG } from '../../accounts/audit-log.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { seesAll } from '../../repos/repo-access.ts';
import { boundedRequest } from '../../engine/query/request.ts';
import { type CallContext, endpoint, type HeaderShape, ok } from '../shapes/endpoint.ts';
import { ApiError, toApiError } from '../shapes/api-error.ts';
import { explanation } from './explain-schemas.ts';
import { searchAnswer, searchBody, type SearchCall, streamEvent } from './search-schemas.ts';

/** The page's name for searches that it starts itself: previews while typing, and searches about a file. */
const PREVIEW_SOURCE = 'web-preview';

/** The search call, with its audit record; searches that a page starts itself are recorded once an hour. */
function callOf(body: SearchCall, context: CallContext): SearchCall {
  const { accounts, actor, caller, settings } = context;
  const isPreview = caller?.source === 'session' && actor?.clientSource === PREVIEW_SOURCE;
  if (isPreview) accounts.auditLog.noteRepeated(actor, 'user.performed_code_search', ORG);
  else accounts.auditLog.note(actor, 'user.performed_code_search', ORG);
  return boundedRequest(body, settings.maxMatchCount);
}

const SEARCH_ERRORS = [
  'FAILED_TO_PARSE_QUERY',
  'INSUFFICIENT_PERMISSIONS',
  'SEARCH_CONTEXT_NOT_FOUND',
  'REVISION_TOO_LARGE',
] as const;

/** Awaits a search. If it fails because a context is unknown and the licence has no contexts, reports the licence instead. */
export async function explainMissingLicence<Value>(
  accounts: Accounts,
  found: Promise<Value>,
): Promise<Value> {
  try {
    return await found;
  } catch (error) {
    const isOfContexts = toApiError(error)?.errorCode === 'SEARCH_CONTEXT_NOT_FOUND';
    if (!isOfContexts || accounts.isEntitled('search-contexts')) throw error;
    throw new ApiError(
      'INSUFFICIENT_PERMISSIONS',
      'Search contexts require a licence with the entitlement "search-contexts".',
    );
  }
}

export const search = endpoint(
  {
    operationId: 'search',
    method: 'POST',
    path: '/api/search',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'Search code',
    description: 'Answers when the search has ended, with all results in one body.',
    isSearch: true,
    isCounted: true,
    input: { body: searchBody },
    responses: { 200: { description: 'The results, best first.', body: searchAnswer } },
    errors: SEARCH_ERRORS,
  },
  async ({ body }, context) => {
    const found = context.services.search.search(callOf(body, context), context);
    const { json } = await explainMissingLicence(context.accounts, found);
    return { status: 200, content: { json } };
  },
);

const STREAM_DESCRIPTION = `Answers while the search runs.

As \`text/event-stream\` every event is one line \`data: \` with a JSON object and a blank line; behind the last
one stands \`data: [DONE]\`. As \`application/x-msgpack; framing=u32be\` every event is a frame: its size in bytes
(unsigned, 32 bits, big-endian), then one MessagePack map; a frame of size 0 stands for the end. The schema is that
of one event. If \`Accept-Encoding\` allows it the body is compressed; each event can be read before the next is there.

What is wrong before the stream starts is an ordinary error. A failure later is an event of type \`error\`; a stream
that ends without its end mark, or that had an \`error\`, has failed.`;

const STREAM_HEADERS: Readonly<Record<string, HeaderShape>> = {
  'Cache-Control': { description: '`no-cache, no-transform`', type: 'string', isRequired: true },
  'X-Accel-Buffering': {
    description: '`no`: proxies should forward events at once.',
    type: 'string',
    isRequired: true,
  },
};

export const streamSearch = endpoint(
  {
    operationId: 'streamSearch',
    method: 'POST',
    path: '/api/stream_search',
    access: 'opt',
    tag: 'Search & Navigation',
    summary: 'Search code, results as found',
    description: STREAM_DESCRIPTION,
    isSearch: true,
    isCounted: true,
    input: { body: searchBody },
    responses: {
      200: {
        description: 'The events, `chunk` zero or more times, then `final`.',
        body: streamEvent,
        contentTypes: ['text/event-stream', 'application/x-msgpack'],
        headers: STREAM_HEADERS,
      },
    },
    errors: SEARCH_ERRORS,
  },
  async ({ body }, context) => {
    const { services, signal, permit, baseUrl, repoAccess, contexts, eventSizeMax, accounts } =
      context;
    const { requestId, clientKey } = context;
    const caller = { repoAccess, contexts, requestId, clientKey };
    // Not all of the context: a stream's output is not counted as one answer.
    const environment = { signal, permit, baseUrl, eventSizeMax, ...caller };
    const found = services.search.stream(callOf(body, context), environment);
    const events = await explainMissingLicence(accounts, found);
    return { status: 200, content: { events } };
  },
);

export const explainSearch = endpoint(
  {
    operationId: 'explainSearch',
    method: 'POST',
    path: '/api/explain',
    access: 'user',
    isForLocal: true,
    isForOperator: true,
    tag: 'System',
    summary: 'Explain a search',
    description:
      'Runs the search over what the caller sees, and explains its plan; for owners also the share of each shard.',
    isSearch: true,
    input: { body: searchBody },
    responses: { 200: { description: 'The explanation.', body: explanation } },
    errors: SEARCH_ERRORS,
  },
  async ({ body }, context) => {
    const { caller, services, repoAccess } = context;
    const seesShards = hasOwnerRole(caller) && seesAll(repoAccess);
    const found = services.search.explain(callOf(body, context), context, seesShards);
    return ok(await explainMissingLicence(context.accounts, found));
  },
);
