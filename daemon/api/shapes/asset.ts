// Bodies that are the same for everybody: the API description, a page, a script. Never MessagePack; clients cache them.

import { createHash } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

export interface Asset {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As in the header, with quotes. Weak, as it covers all codings of the bytes. Absent: not cacheable. */
  readonly etag?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As the build compressed it; other codings are created on demand. */
  readonly br?: Uint8Array;
}

export function makeAsset(
  bytes: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): Asset {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, contentType, etag: `W/"${digest}"`, headers };
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

const UNKNOWN_TYPE = 'application/octet-stream';

/** Possible content types of files, without parameters. */
export const FILE_TYPES: readonly string[] = [...Object.values(CONTENT_TYPES), UNKNOWN_TYPE].map(
  (type) => type.split(';')[0] ?? type,
);

export function contentTypeOf(name: string): string {
  return CONTENT_TYPES[path.extname(name)] ?? UNKNOWN_TYPE;
}

/** Files that are served as assets, each read at its first use. A file may exist only in compressed form, as `NAME.br`. */
export class AssetFiles {
  readonly #locationOf: (name: string) => string | URL | undefined;
  readonly #headersOf: (name: string) => Readonly<Record<string, string>>;
  readonly #assets = new Map<string, Promise<Asset>>();

  constructor(
    locationOf: (name: string) => string | URL | undefined,
    headersOf: (name: string) => Readonly<Record<string, string>> = () => ({}),
  ) {
    this.#locationOf = locationOf;
    this.#headersOf = headersOf;
  }

  /** Undefined: unknown name. Rejects if it cannot be read; the next call tries again. */
  get(name: string): Promise<Asset> | undefined {
    const cached = this.#assets.get(name);
    if (cached !== undefined) return cached;
    const whole = this.#locationOf(name);
    const location = whole ?? this.#locationOf(`${name}.br`);
    if (location === undefined) return undefined;
    const asset = this.#read(name, location, whole === undefined);
    this.#assets.set(name, asset);
    return asset;
  }

  async #read(name: string, location: string | URL, isBrotli: boolean): Promise<Asset> {
    try {
      const read = await readPlain(location);
      const bytes = isBrotli ? await promisify(brotliDecompress)(read) : read;
      const asset = makeAsset(bytes, contentTypeOf(name), this.#headersOf(name));
      return isBrotli ? { ...asset, br: read } : asset;
    } catch (error) {
      this.#assets.delete(name);
      throw error;
    }
  }
}

/**
 * Not readFile: a listed file may have become a link or a pipe, and a few pipes without a writer would block all
 * threads that read files. Errors: those of the system, ELOOP for a link; Error if it is not a file.
 */
async function readPlain(location: string | URL): Promise<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(location, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`no file: ${String(location)}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export function isUnchanged(etag: string | undefined, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false;
  const requested = ifNoneMatch.split(',').map(opaqueTag);
  return requested.includes('*') || requested.includes(opaqueTag(etag));
}

function opaqueTag(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
