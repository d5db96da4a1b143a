// Bodies of a type of their own, the same for everybody: the API description, a page, a script. Never
// MessagePack; clients keep them and ask whether they have changed, unless their headers say otherwise.

import { createHash } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import path from 'node:path';

export interface Asset {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As in the header, quotes included. Weak, as it stands for all codings of the bytes. Absent: nobody keeps it. */
  readonly etag?: string;
  /** Of each answer with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes in codings that the build made; others are made when they are asked for. */
  readonly coded?: Readonly<Partial<Record<'br' | 'gzip', Uint8Array>>>;
}

export function makeAsset(
  bytes: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): Asset {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, contentType, etag: `W/"${digest}"`, headers };
}

/** Content types of files by the ending of their names. */
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

/** The content types that files may have, without parameters. */
export const FILE_TYPES: readonly string[] = [...Object.values(CONTENT_TYPES), UNKNOWN_TYPE].map(
  (type) => type.split(';')[0] ?? type,
);

/** The content type of a file of this name. */
export function contentTypeOf(name: string): string {
  return CONTENT_TYPES[path.extname(name)] ?? UNKNOWN_TYPE;
}

/** Files that are assets, each read at its first use. */
export class AssetFiles {
  readonly #placeOf: (name: string) => string | URL | undefined;
  readonly #headersOf: (name: string) => Readonly<Record<string, string>>;
  readonly #assets = new Map<string, Promise<Asset>>();

  /** @param placeOf  where the file of a name lies; undefined: there is none */
  constructor(
    placeOf: (name: string) => string | URL | undefined,
    headersOf: (name: string) => Readonly<Record<string, string>> = () => ({}),
  ) {
    this.#placeOf = placeOf;
    this.#headersOf = headersOf;
  }

  /** Undefined: there is none of this name. Errors: rejects if it cannot be read, and the next call tries again. */
  get(name: string): Promise<Asset> | undefined {
    const known = this.#assets.get(name);
    const place = known === undefined ? this.#placeOf(name) : undefined;
    if (place === undefined) return known;
    const asset = this.#read(name, place);
    this.#assets.set(name, asset);
    return asset;
  }

  async #read(name: string, place: string | URL): Promise<Asset> {
    try {
      const asset = makeAsset(await readPlain(place), contentTypeOf(name), this.#headersOf(name));
      const [br, gzip] = await Promise.all([
        this.#readCoded(name, 'br'),
        this.#readCoded(name, 'gz'),
      ]);
      return { ...asset, coded: { ...(br && { br }), ...(gzip && { gzip }) } };
    } catch (error) {
      this.#assets.delete(name);
      throw error;
    }
  }

  async #readCoded(name: string, ending: 'br' | 'gz'): Promise<Buffer | undefined> {
    const place = this.#placeOf(`${name}.${ending}`);
    return place === undefined ? undefined : await readPlain(place);
  }
}

/**
 * The bytes of a file. Why not readFile: what was a file when it was listed may be a link or a pipe now, and a few pipes
 * that nobody writes to would keep all threads that read files.
 *
 * Errors: those of the system, ELOOP for a link; Error where it is no file.
 */
async function readPlain(place: string | URL): Promise<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`no file: ${String(place)}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Does the value of If-None-Match name the asset? */
export function isUnchanged({ etag }: Asset, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false;
  const asked = ifNoneMatch.split(',').map(opaqueTag);
  return asked.includes('*') || asked.includes(opaqueTag(etag));
}

function opaqueTag(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
