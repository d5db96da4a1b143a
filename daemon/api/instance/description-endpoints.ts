// The API description for programs and people, created by the build, and GET /schemas/config.json.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Asset, makeAsset } from '../shapes/asset.ts';
import { endpoint, type Endpoint } from '../shapes/endpoint.ts';
import { PAGE, pageFile } from './reference-page.ts';
import { ASSET_HEADERS, NOT_MODIFIED, assetEndpoint } from '../shapes/static-files.ts';
import { schemaDocument } from '../../base/config/schema-document.ts';
import { programFile } from '../../base/program-files.ts';

export const DOCUMENT_FILE = programFile('api/instance/openapi.json');
export const OPEN_ADDRESS = 'http://address.invalid';

const SCHEMA_TYPE = 'application/schema+json';
const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1.0';

const openApiDocument = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Cached: there is one base URL. */
let served: { readonly baseUrl: string; readonly asset: Asset } | undefined;

function documentFor(baseUrl: string): Asset {
  if (served?.baseUrl !== baseUrl) {
    const address = JSON.stringify(baseUrl);
    const json = readFileSync(DOCUMENT_FILE, 'utf8');
    const bytes = Buffer.from(json.replace(JSON.stringify(OPEN_ADDRESS), () => address));
    served = { baseUrl, asset: makeAsset(bytes, OPENAPI_TYPE) };
  }
  return served.asset;
}

let schema: Asset | undefined;

function configurationSchema(): Asset {
  schema ??= makeAsset(Buffer.from(JSON.stringify(schemaDocument())), SCHEMA_TYPE);
  return schema;
}

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
  (_, { baseUrl }) => ({ status: 200, content: { asset: documentFor(baseUrl) } }),
);

export const DESCRIPTION_ENDPOINTS: readonly Endpoint[] = [
  getDescription,
  assetEndpoint('/api/reference', () => PAGE),
  assetEndpoint('/schemas/config.json', configurationSchema, {
    body: z.looseObject({ $schema: z.string() }),
    contentTypes: [SCHEMA_TYPE],
    headers: ASSET_HEADERS,
  }),
  assetEndpoint('/api/reference/{file}', pageFile),
];
