// Creates the API description, OpenAPI 3.1, from the endpoints. The label v5.1.6 names the API, not the product.

import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { API_LABEL } from '../../base/config/version.ts';
import type { Endpoint, Tag } from '../shapes/endpoint.ts';
import { SHARED_HEADERS, headerObject, responsesOf } from './openapi-responses.ts';

const TAGS: Readonly<Record<Tag, string>> = {
  'Search & Navigation': 'Search, definitions, references, files and trees.',
  Repositories: 'Indexed repositories and their index jobs.',
  Connections: 'Where repositories come from.',
  Git: 'History, blame and differences.',
  'Scoped Access Tokens': 'Short-lived tokens for some repositories.',
  Enterprise: 'Members and audit; these require a licence.',
  System: 'Health, version, and explanations of searches.',
};

const DESCRIPTION = `Code search over git repositories.

Request bodies are JSON in UTF-8. Unknown members and parameters are ignored; \`null\` is not the same as absent;
of a repeated parameter the first value counts. Answers are JSON; a client that names \`application/x-msgpack\`
in \`Accept\` gets the same object as MessagePack. Optional members are left out when unknown. Times are ISO 8601 in UTC.

Every error body is the object \`Error\`; \`x-error-codes\` lists the codes of each status. A path that does not exist
is 404 \`NOT_FOUND\`, a method that a path does not have 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`. HEAD works wherever
GET does; OPTIONS answers 204 with \`Allow\`. What is no request of HTTP is 400 \`MALFORMED_REQUEST\`, a head above 16 KiB
431 \`REQUEST_HEADERS_TOO_LARGE\`, a request that takes more than 30 s to arrive 408 \`REQUEST_TIMEOUT\`.

Requests with a key or token to search and navigation endpoints are counted for each user and day (UTC); their
answers then carry \`X-RateLimit-…\` headers.`;

/** By credential; none if guests have access. */
const CREDENTIALS = [{ bearer: [] }, { serviceApiKey: [] }];

export interface DocumentOptions {
  /** Without trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
}

export function makeDocument(endpoints: readonly Endpoint[], options: DocumentOptions): object {
  const described = endpoints.filter(({ isDescribed }) => isDescribed);
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Trawl',
        version: API_LABEL,
        'x-product-version': options.version,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0' },
      },
      servers: [{ url: options.baseUrl }],
      tags: tagsOf(described),
      paths: pathsOf(described),
      components: {
        headers: Object.fromEntries(
          Object.entries(SHARED_HEADERS).map(([name, shape]) => [name, headerObject(shape)]),
        ),
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, a scoped access token or an OAuth access token.',
          },
          serviceApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Service-Api-Key',
            description: 'An API key.',
          },
        },
      },
    },
    { override: leaveOpen },
  );
  return withOpenReferences(document);
}

/** Answers may get further members, so additional ones are allowed where zod would drop them. */
function leaveOpen({
  jsonSchema,
  zodSchema,
  io,
}: {
  jsonSchema: { additionalProperties?: unknown };
  zodSchema: { _zod: { def: { type: string; catchall?: unknown } } };
  io: 'input' | 'output';
}): void {
  // oxlint-disable-next-line no-underscore-dangle
  const { type, catchall } = zodSchema._zod.def;
  if (io === 'output' && type === 'object' && catchall === undefined) {
    delete jsonSchema.additionalProperties;
  }
}

/**
 * Beside a reference with its own description the library repeats what `leaveOpen` removes, so members are forbidden.
 */
function withOpenReferences(document: object): object {
  const json = JSON.stringify(document, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const { additionalProperties: _additional, ...rest } = { additionalProperties: 0, ...value };
    return rest;
  });
  // Safety: the text is that of an object.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as object;
}

function tagsOf(endpoints: readonly Endpoint[]) {
  const used = new Set<string>(endpoints.map(({ tag }) => tag));
  return Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

function pathsOf(endpoints: readonly Endpoint[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    const methods = (paths[endpoint.path] ??= {});
    methods[endpoint.method.toLowerCase()] = operationOf(endpoint);
  }
  return paths;
}

function operationOf(endpoint: Endpoint): ZodOpenApiOperationObject {
  const { operationId, summary, tag, access, input } = endpoint;
  const description = descriptionOf(endpoint);
  const { path, query, body } = input;
  return {
    operationId,
    summary,
    ...(description === '' ? {} : { description }),
    tags: [tag],
    security: securityOf(access),
    ...((path ?? query) && { requestParams: { ...(path && { path }), ...(query && { query }) } }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: responsesOf(endpoint),
  };
}

const WHO_MAY: Readonly<Record<Endpoint['access'], string | undefined>> = {
  none: undefined,
  opt: undefined,
  user: 'For callers with an account.',
  session: 'For browser sessions.',
  key: 'With an API key only.',
  operator: 'For commands on the machine of the data directory only.',
  owner: 'For owners, but not with a scoped access token.',
};

function descriptionOf({ description, access, entitlement }: Endpoint): string {
  const licence = entitlement && `Requires a licence with the entitlement \`${entitlement}\`.`;
  const rules = [WHO_MAY[access], licence].filter((text) => text !== undefined).join(' ');
  return [description, rules].filter((text) => text !== undefined && text !== '').join('\n\n');
}

function securityOf(access: Endpoint['access']) {
  if (access === 'none') return [{}];
  return access === 'opt' ? [...CREDENTIALS, {}] : CREDENTIALS;
}
