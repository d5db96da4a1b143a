// Where the configuration file comes from: a file of this machine, or an http(s) address (API.md 19.1). An address is asked
// when somebody says so; in between what it said last counts.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf, systemCodeOf } from '../caught.ts';
import { NoFileError, readOwn, replaceOwn } from '../own-file.ts';
import type { AskedAddress } from './ask-address.ts';
import { ConfigError } from './error.ts';
import type { Environment } from './way.ts';

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

/**
 * @param place  a path, relative to `folder`, or an http(s) address
 * @param env  where the addresses of proxies are
 *
 * Errors: ConfigError for an address that is none.
 */
export function openSource(
  place: string,
  folder: string,
  env: Environment = {},
): ConfigurationSource {
  return /^https?:\/\//i.test(place)
    ? new AddressSource(place, env)
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
  readonly #env: Environment;
  #text: string | undefined;
  #tag: string | undefined;

  constructor(address: string, env: Environment) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '')
      throw new ConfigError(
        'TRAWL_CONFIG',
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
      const { status, text, tag } = await this.#ask(signal);
      if (status === 304 && this.#text !== undefined) return false;
      if (status !== 200) throw this.#refused(`answered with status ${status}`);
      if (text === undefined) throw tooLarge(this.name);
      const plain = withoutMark(text);
      const isOther = plain !== this.#text;
      [this.#text, this.#tag] = [plain, tag];
      return isOther;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      ending?.throwIfAborted();
      throw this.#refused(systemCodeOf(error) ?? messageOf(error));
    }
  }

  /** The answer behind redirects on the same host. Errors: ConfigError; those of the network. */
  async #ask(signal: AbortSignal): Promise<AskedAddress> {
    const { askAddress } = await import('./ask-address.ts');
    let url = this.#url;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const answer = await askAddress({
        url,
        tag: this.#tag,
        env: this.#env,
        signal,
        sizeMax: FILE_SIZE_MAX,
        silenceMs: TIMEOUT_MS,
      });
      const { status, location } = answer;
      if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return answer;
      url = this.#allowed(location, url);
    }
    throw this.#refused(`redirects more than ${REDIRECTS_MAX} times`);
  }

  /** Where a redirect leads. Errors: ConfigError, of what leads elsewhere. */
  #allowed(location: string, from: URL): URL {
    if (!URL.canParse(location, from.href)) throw this.#refused('redirects to what is no address');
    const next = new URL(location, from);
    const isSafe =
      next.host === this.#url.host &&
      (next.protocol === 'https:' || next.protocol === from.protocol);
    if (isSafe) return next;
    throw this.#refused(`redirects to ${next.origin}; give that address itself if you trust it`);
  }

  #refused(reason: string): ConfigError {
    return new MissingError(
      'TRAWL_CONFIG',
      JSON.stringify(this.name),
      `${reason}; allowed: an address that answers with the file`,
    );
  }
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
