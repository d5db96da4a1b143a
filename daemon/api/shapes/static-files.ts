// Endpoints that serve assets, outside the API description. Files of a folder of the build are listed once, so no path
// can reach anything else.

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

/**
 * An endpoint that serves assets.
 *
 * @param route  its path, which may have a parameter or wildcard named `file`
 * @param find  the asset by name ('' without a parameter); undefined: 404
 * @param file  the shape of the answer
 */
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
 * The files now in a folder and its subfolders; no links, no later files. `NAME.br` and `NAME.gz` are compressed forms
 * of NAME.
 *
 * @param hashed  matches names with a content hash: clients keep those files without revalidation; default: none
 *
 * Errors: throws if the folder cannot be listed.
 */
export function folderFiles(folder: string, hashed?: RegExp): AssetFiles {
  const files = filesIn(folder);
  return new AssetFiles(
    (name) => files.get(name),
    (name) => (hashed?.test(name) === true ? KEPT : {}),
  );
}

/** Paths of files by their path below the folder, with `/`. */
function filesIn(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file).replaceAll(path.sep, '/'), file]),
  );
}
