// Endpoints that serve assets, outside the API description. Folders are listed once: no path reaches anything else.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type Asset, AssetFiles, FILE_TYPES } from './asset.ts';
import { endpoint, type Endpoint, type HeaderShape, type ResponseShape } from './endpoint.ts';
import { ApiError } from './api-error.ts';

export const ASSET_HEADERS: Readonly<Record<string, HeaderShape>> = {
  ETag: {
    description: 'Identifies this form of the body; a request with it in If-None-Match gets 304.',
    type: 'string',
    isRequired: true,
  },
};

export const NOT_MODIFIED: ResponseShape = {
  description: 'The client has the current version.',
  headers: ASSET_HEADERS,
};

const FILE: ResponseShape = {
  description: 'The file.',
  body: z.string(),
  contentTypes: FILE_TYPES,
  headers: ASSET_HEADERS,
};

/** `route` may have a parameter or wildcard named `file`, which `find` gets; undefined: 404. */
export function assetEndpoint(
  route: string,
  find: (name: string) => Asset | Promise<Asset> | undefined,
  file = FILE,
): Endpoint {
  return endpoint(
    {
      method: 'GET',
      path: route,
      access: 'none',
      isDescribed: false,
      input: /[{*]file/.test(route) ? { path: z.object({ file: z.string() }) } : {},
      responses: { 200: file, 304: NOT_MODIFIED },
    },
    async ({ path: values }) => {
      const asset = await find(values?.file ?? '');
      if (asset === undefined) throw new ApiError('NOT_FOUND', 'Not found.');
      return { status: 200, content: { asset } };
    },
  );
}

const KEPT = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/**
 * No links, no later files; a file may be `NAME.br` alone. Clients keep names that match
 * `hashed`, which have a content hash, without revalidation. Throws if the folder cannot be listed.
 */
export function folderFiles(folder: string, hashed?: RegExp): AssetFiles {
  const files = filesIn(folder);
  return new AssetFiles(
    (name) => files.get(name),
    (name) => (hashed?.test(name) === true ? KEPT : {}),
  );
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file).replaceAll(path.sep, '/'), file]),
  );
}
