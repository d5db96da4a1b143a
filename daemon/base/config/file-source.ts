// Source of the configuration file: a local file or an http(s) address (API.md 19.1). An address is fetched on request;
// between two fetches the last text counts.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf, systemCodeOf } from '../caught.ts';
import { omitUndefined } from '../omit-undefined.ts';
import { NoFileError, readOwn, replaceOwn } from '../own-file.ts';
import type { AddressAnswer } from './fetch-address.ts';
import { ConfigError } from './error.ts';
import type { Environment } from './dispatcher.ts';

export interface ConfigurationSource {
  /** For people and records: the absolute path, or the address without its secrets. */
  readonly name: string;
  readonly isAddress: boolean;
  /** The text; of an address, as fetched last. Errors: ConfigError. */
  read(): string;
  readonly pollMs: number;
  /**
   * Fetches an address, or looks whether the file changed. Returns false if the text is unchanged. Errors, of an address:
   * ConfigError; the reason of the signal.
   */
  refresh(signal?: AbortSignal): Promise<boolean>;
  /** Stores the valid text of an address, for a start while the address does not answer. Errors: the file system's. */
  keep(dataDir: string): void;
  /** Uses the stored copy of this address; false: there is none. */
  recall(dataDir: string): boolean;
}

/** In the data directory. */
const COPY_NAME = 'configuration-copy.json';
/** The address is stored as a digest because it may contain a key. Configuration files contain no secrets. */
const copySchema = z.strictObject({ addressDigest: z.string(), text: z.string() });

/** Of errors: an argument, --config or TRAWL_CONFIG has named the file. */
const SUBJECT = 'configuration file';

const FILE_POLL_MS = 1_000;

/** Bound: a larger file is refused. */
const FILE_SIZE_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 5;
/** Bound: wait for a server, for each request with its body. */
const TIMEOUT_MS = 30_000;
/** At start: a volume or a server may become available a little later (API.md 19.1). */
const ATTEMPTS = 5;

/**
 * A path, relative to `folder`, or an http(s) address. `env` has the addresses of proxies. Errors: ConfigError for an
 * invalid address.
 */
export function openSource(
  location: string,
  folder: string,
  env: Environment = {},
): ConfigurationSource {
  return /^https?:\/\//i.test(location)
    ? new AddressSource(location, env)
    : new PathSource(path.resolve(folder, location));
}

/**
 * Fetches the file, and retries while it is missing; `onWait` gets the reason before each pause. Errors: ConfigError of
 * the last attempt.
 */
export async function awaitSource(
  source: ConfigurationSource,
  onWait: (reason: string) => void,
  pauseMs = 2_000,
): Promise<void> {
  for (let count = 0; ; count++) {
    try {
      await source.refresh();
      source.read();
      return;
    } catch (error) {
      if (!(error instanceof MissingError) || count === ATTEMPTS) throw error;
      onWait(`${error.message}; trying again in ${pauseMs / 1000} s (${count + 1} of ${ATTEMPTS})`);
    }
    await sleep(pauseMs);
  }
}

/** The file does not exist; it may appear later. */
export class MissingError extends ConfigError {}

class PathSource implements ConfigurationSource {
  readonly name: string;
  readonly isAddress = false;
  readonly pollMs = FILE_POLL_MS;
  /** Of the file at the last refresh; "": none, or it may change without showing it. */
  #fingerprint = '';

  constructor(file: string) {
    this.name = file;
  }

  read(): string {
    try {
      const { size } = statSync(this.name);
      if (size > FILE_SIZE_MAX) throw tooLarge(this.name);
      return withoutMark(readOwn(this.name).toString('utf8'));
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      // Why regular files only: a pipe would block the whole daemon, a device has no end.
      const other = error instanceof NoFileError ? 'no file' : 'unreadable';
      const code = error instanceof Error && 'code' in error ? String(error.code) : other;
      const Refusal = code === 'ENOENT' ? MissingError : ConfigError;
      throw new Refusal(SUBJECT, JSON.stringify(this.name), `${code}; allowed: a readable file`);
    }
  }

  /** Why polled: however the file is written, replaced or linked to, this sees it. */
  async refresh(): Promise<boolean> {
    const found = await stat(this.name, { bigint: true }).catch(() => undefined);
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs } = found ?? {};
    const before = this.#fingerprint;
    // The time of a change too: the file may become readable.
    const next = [dev, ino, size, mtimeNs, ctimeNs].join(':');
    // A second write of the same size may get the same time.
    const isSettled = Math.abs(Date.now() - Number(mtimeMs ?? 0)) > FILE_POLL_MS;
    this.#fingerprint = isSettled ? next : '';
    return next !== before;
  }

  keep(): void {}

  recall(): boolean {
    return false;
  }
}

class AddressSource implements ConfigurationSource {
  readonly name: string;
  readonly isAddress = true;
  readonly pollMs = 60_000;
  readonly #url: URL;
  readonly #env: Environment;
  #text: string | undefined;
  #tag: string | undefined;

  constructor(address: string, env: Environment) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '')
      throw new ConfigError(
        SUBJECT,
        '(hidden)',
        'allowed: a path, or an http(s) address without user and password',
      );
    this.#url = url;
    this.#env = env;
    this.name = `${url.origin}${url.pathname}`;
  }

  read(): string {
    if (this.#text === undefined) throw this.#refused('not fetched yet');
    return this.#text;
  }

  get #digest(): string {
    return createHash('sha256').update(this.#url.href).digest('hex');
  }

  keep(dataDir: string): void {
    const copy = { addressDigest: this.#digest, text: this.read() };
    replaceOwn(path.join(dataDir, COPY_NAME), JSON.stringify(copy));
  }

  recall(dataDir: string): boolean {
    try {
      const text = readOwn(path.join(dataDir, COPY_NAME)).toString();
      const copy = copySchema.parse(JSON.parse(text));
      if (copy.addressDigest !== this.#digest) return false;
      this.#text = copy.text;
      return true;
    } catch {
      return false;
    }
  }

  async refresh(ending?: AbortSignal): Promise<boolean> {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = ending === undefined ? limit : AbortSignal.any([limit, ending]);
    try {
      const { status, headers, body } = await this.#fetch(signal);
      if (status === 304 && this.#text !== undefined) return false;
      if (status !== 200) throw this.#refused(`answered with status ${status}`);
      if (body === undefined) throw tooLarge(this.name);
      const plain = withoutMark(body.toString('utf8'));
      const isOther = plain !== this.#text;
      [this.#text, this.#tag] = [plain, textOf(headers['etag'])];
      return isOther;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      ending?.throwIfAborted();
      throw this.#refused(systemCodeOf(error) ?? messageOf(error));
    }
  }

  /** The answer after redirects on the same host. Errors: ConfigError; network errors. */
  async #fetch(signal: AbortSignal): Promise<AddressAnswer> {
    const { fetchAddress } = await import('./fetch-address.ts');
    let url = this.#url;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const answer = await fetchAddress({
        url,
        headers: { accept: '*/*', ...omitUndefined({ 'if-none-match': this.#tag }) },
        env: this.#env,
        signal,
        sizeMax: FILE_SIZE_MAX,
        silenceMs: TIMEOUT_MS,
      });
      const { status } = answer;
      const location = textOf(answer.headers['location']);
      if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return answer;
      url = this.#allowed(location, url);
    }
    throw this.#refused(`redirects more than ${REDIRECTS_MAX} times`);
  }

  /** Target of a redirect. Errors: ConfigError if it leads to another host. */
  #allowed(location: string, from: URL): URL {
    if (!URL.canParse(location, from.href)) throw this.#refused('redirects to an invalid address');
    const next = new URL(location, from);
    const isSafe =
      next.host === this.#url.host &&
      (next.protocol === 'https:' || next.protocol === from.protocol);
    if (isSafe) return next;
    throw this.#refused(`redirects to ${next.origin}; give that address itself if you trust it`);
  }

  #refused(reason: string): ConfigError {
    return new MissingError(
      SUBJECT,
      JSON.stringify(this.name),
      `${reason}; allowed: an address that answers with the file`,
    );
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function tooLarge(name: string): ConfigError {
  return new ConfigError(
    SUBJECT,
    JSON.stringify(name),
    `too large; allowed: ${FILE_SIZE_MAX} bytes`,
  );
}

/** Some editors write a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
