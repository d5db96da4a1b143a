// GET /api/openapi.json and /api/reference: the API describes itself, to programs and to people.

import { z } from 'zod';
import { makeAsset } from './asset.ts';
import type { Asset } from './asset.ts';
import { endpoint } from './endpoint.ts';
import type { Endpoint, HeaderShape, ResponseShape } from './endpoint.ts';
import { ApiError } from './errors.ts';
import { makeDocument } from './openapi.ts';
import type { DocumentOptions } from './openapi.ts';
import { PAGE, PAGE_POLICY, pageFile } from './reference-page.ts';

const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1.0';

const ASSET_HEADERS: Readonly<Record<string, HeaderShape>> = {
  ETag: {
    description: 'Names this form of the body; a request with it in If-None-Match gets 304.',
    type: 'string',
    isRequired: true,
  },
};

const NOT_MODIFIED: ResponseShape = {
  description: 'What the client has is what it would get.',
  headers: ASSET_HEADERS,
};

const openApiDocument = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Keeps the document that was made last: there is one base URL. */
function documentMaker(endpoints: () => readonly Endpoint[]): (options: DocumentOptions) => Asset {
  let made: (DocumentOptions & { readonly asset: Asset }) | undefined;
  return ({ baseUrl, version }) => {
    if (made?.baseUrl !== baseUrl || made.version !== version) {
      const json = JSON.stringify(makeDocument(endpoints(), { baseUrl, version }));
      made = { baseUrl, version, asset: makeAsset(Buffer.from(json), OPENAPI_TYPE) };
    }
    return made.asset;
  };
}

/** @param endpoints  all that the daemon has, these included */
export function descriptionEndpoints(endpoints: () => readonly Endpoint[]): Endpoint[] {
  const documentFor = documentMaker(endpoints);
  const getDescription = endpoint(
    {
      operationId: 'getApiDescription',
      method: 'GET',
      path: '/api/openapi.json',
      access: 'none',
      tag: 'System',
      summary: 'This description',
      responses: {
        200: {
          description: 'The document.',
          body: openApiDocument,
          contentTypes: [OPENAPI_TYPE],
          headers: ASSET_HEADERS,
        },
        304: NOT_MODIFIED,
      },
    },
    (_, { baseUrl, version }) => ({
      status: 200,
      content: { asset: documentFor({ baseUrl, version }) },
    }),
  );
  return [getDescription, getReference, getReferenceFile];
}

const getReference = endpoint(
  {
    operationId: 'getReferencePage',
    method: 'GET',
    path: '/api/reference',
    access: 'none',
    tag: 'System',
    summary: 'This description as a page',
    isDescribed: false,
    responses: {
      200: {
        description: 'The page.',
        body: z.string(),
        contentTypes: ['text/html'],
        headers: ASSET_HEADERS,
      },
      304: NOT_MODIFIED,
    },
  },
  () => ({
    status: 200,
    headers: { 'Content-Security-Policy': PAGE_POLICY },
    content: { asset: PAGE },
  }),
);

const getReferenceFile = endpoint(
  {
    operationId: 'getReferenceFile',
    method: 'GET',
    path: '/api/reference/{file}',
    access: 'none',
    tag: 'System',
    summary: 'A file of the page',
    isDescribed: false,
    input: { path: z.object({ file: z.string() }) },
    responses: {
      200: {
        description: 'The file.',
        body: z.string(),
        contentTypes: ['text/css', 'text/javascript'],
        headers: ASSET_HEADERS,
      },
      304: NOT_MODIFIED,
    },
  },
  async ({ path }) => {
    const asset = await pageFile(path.file);
    if (asset === undefined) throw new ApiError('NOT_FOUND', 'Not found.');
    return { status: 200, content: { asset } };
  },
);
