// Where the configuration file comes from: a file of this machine, or an http(s) address (API.md 19.1). An address is asked
// when somebody says so; in between what it said last counts.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf, systemCodeOf } from '../caught.ts';
import { NoFileError, readOwn, replaceOwn } from '../own-file.ts';
import { ConfigError } from './error.ts';

/** A place that a configuration file is read from. */
export interface ConfigurationSource {
  /** For people and records: the absolute path; of an address what may be seen of it. */
  readonly name: string;
  readonly isAddress: boolean;
  /** The text; of an address, as it was fetched last. Errors: ConfigError. */
  read(): string;
  /** Asks an address. Returns false if it says the same as before. Errors: ConfigError; the reason of the signal. */
  refresh(signal?: AbortSignal): Promise<boolean>;
  /** Of an address: what it says is right, and is kept for a start while it does not answer. Errors: the file system's. */
  keep(dataDir: string): void;
  /** Takes what was kept of this address for what it says; false: nothing was. */
  recall(dataDir: string): boolean;
}

/** In the data directory. */
const COPY_NAME = 'configuration-copy.json';
/** By a digest whose copy it is, as an address may hold a key. Secrets are in no configuration file. */
const copySchema = z.strictObject({ addressDigest: z.string(), text: z.string() });

/** Bound: one that is larger is none of ours. */
const FILE_SIZE_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 5;
/** Guess: of each request, its body included. */
const TIMEOUT_MS = 30_000;
/** At the start: a volume or a server may come a little later (API.md 19.1). */
const ATTEMPTS = 5;
const ATTEMPT_PAUSE_MS = 2_000;

/** @param place  a path, relative to `folder`, or an http(s) address. Errors: ConfigError for an address that is none. */
export function openSource(place: string, folder: string): ConfigurationSource {
  return /^https?:\/\//i.test(place)
    ? new AddressSource(place)
    : new PathSource(path.resolve(folder, place));
}

/**
 * Asks for the file until it is there.
 *
 * @param onWait  told why before each pause
 *
 * Errors: ConfigError, of the last of `ATTEMPTS` after the first.
 */
export async function awaitSource(
  source: ConfigurationSource,
  onWait: (reason: string) => void,
  pauseMs = ATTEMPT_PAUSE_MS,
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

/** There is no such file; it may come. */
export class MissingError extends ConfigError {}

class PathSource implements ConfigurationSource {
  readonly name: string;
  readonly isAddress = false;

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
      // Why not any text: a pipe would hold up the whole daemon, a device has no end.
      const other = error instanceof NoFileError ? 'no file' : 'unreadable';
      const code = error instanceof Error && 'code' in error ? String(error.code) : other;
      const Refusal = code === 'ENOENT' ? MissingError : ConfigError;
      throw new Refusal(
        'TRAWL_CONFIG',
        JSON.stringify(this.name),
        `${code}; allowed: a readable file`,
      );
    }
  }

  async refresh(): Promise<boolean> {
    return true;
  }

  keep(): void {}

  recall(): boolean {
    return false;
  }
}

class AddressSource implements ConfigurationSource {
  readonly name: string;
  readonly isAddress = true;
  readonly #url: URL;
  #text: string | undefined;
  #tag: string | null = null;

  constructor(address: string) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '')
      throw new ConfigError(
        'TRAWL_CONFIG',
        '(hidden)',
        'allowed: a path, or an http(s) address without user and password',
      );
    this.#url = url;
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
      const response = await this.#ask(signal);
      if (response.status === 304 && this.#text !== undefined) {
        await response.body?.cancel();
        return false;
      }
      if (response.status !== 200) {
        await response.body?.cancel();
        throw this.#refused(`answered with status ${response.status}`);
      }
      const text = withoutMark(await readBody(response, this.name));
      const isOther = text !== this.#text;
      [this.#text, this.#tag] = [text, response.headers.get('etag')];
      return isOther;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      ending?.throwIfAborted();
      // Why the cause: fetch itself says that it failed, and nothing else.
      const cause = error instanceof Error ? error.cause : undefined;
      throw this.#refused(systemCodeOf(cause) ?? messageOf(cause ?? error));
    }
  }

  /** The answer behind redirects on the same host. Errors: ConfigError; those of the network. */
  async #ask(signal: AbortSignal): Promise<Response> {
    let url = this.#url;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const headers = this.#tag === null ? {} : { 'if-none-match': this.#tag };
      const response = await fetch(url.href, { signal, headers, redirect: 'manual' });
      const place = response.headers.get('location');
      if (![301, 302, 303, 307, 308].includes(response.status) || place === null) return response;
      await response.body?.cancel();
      if (!URL.canParse(place, url.href)) throw this.#refused('redirects to what is no address');
      const next = new URL(place, url);
      const isSafe =
        next.host === this.#url.host &&
        (next.protocol === 'https:' || next.protocol === url.protocol);
      if (!isSafe)
        throw this.#refused(
          `redirects to ${next.origin}; give that address itself if you trust it`,
        );
      url = next;
    }
    throw this.#refused(`redirects more than ${REDIRECTS_MAX} times`);
  }

  #refused(reason: string): ConfigError {
    return new MissingError(
      'TRAWL_CONFIG',
      JSON.stringify(this.name),
      `${reason}; allowed: an address that answers with the file`,
    );
  }
}

/** Errors: ConfigError for one that is too large; those of the network. */
async function readBody(response: Response, name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    // Leaving the loop ends the answer.
    if (size > FILE_SIZE_MAX) throw tooLarge(name);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function tooLarge(name: string): ConfigError {
  return new ConfigError(
    'TRAWL_CONFIG',
    JSON.stringify(name),
    `too large; allowed: ${FILE_SIZE_MAX} bytes`,
  );
}

/** Editors of some systems put a mark of the encoding in front. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
