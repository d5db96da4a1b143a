// The certificate of the daemon's own TLS, from two files: read at the start, on SIGHUP, and every minute, as programs that
// renew it only write files. Bad new files change nothing and are reported until they are replaced.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { messageOf } from '../base/caught.ts';
import type { TlsFiles } from '../base/config/configuration.ts';
import { ConfigError } from '../base/config/error.ts';
import { VARIABLES } from '../base/config/variables.ts';
import type { Log } from '../base/log.ts';
import { readOwn } from '../base/own-file.ts';

const CHECK_MS = 60_000;
const NAMES = `${VARIABLES.tlsCert.name} and ${VARIABLES.tlsKey.name}`;

export type CertificatePair = Required<Pick<SecureContextOptions, 'cert' | 'key'>>;

interface ReadPair {
  readonly cert: string;
  readonly key: string;
  /** Unit: ms since 1970. */
  readonly endMs: number;
}

export class Certificate {
  readonly #files: TlsFiles;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #pair: ReadPair;
  #fault: string | undefined;
  #end: string | undefined;
  #onChange: (pair: CertificatePair) => void = () => {};

  /** Errors: ConfigError. */
  constructor(files: TlsFiles, log: Log) {
    this.#files = files;
    this.#log = log;
    try {
      this.#pair = readPair(files);
    } catch (error) {
      throw new ConfigError(
        NAMES,
        messageOf(error),
        'allowed: PEM files of a certificate, with its chain, and of its key',
      );
    }
    this.#noteEnd();
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  /** Problems, as sentences for the owner. */
  get degradations(): readonly string[] {
    return [this.#fault, endOf(this.#files, this.#pair)].filter((text) => text !== undefined);
  }

  /** @param listener  is called now and with each new pair */
  onChange(listener: (pair: CertificatePair) => void): void {
    this.#onChange = listener;
    listener(this.#pair);
  }

  /** Reads the files again. Errors: none. */
  check(): void {
    try {
      const pair = readPair(this.#files);
      this.#fault = undefined;
      if (pair.cert !== this.#pair.cert || pair.key !== this.#pair.key) {
        this.#pair = pair;
        this.#onChange(pair);
        this.#log.info('the TLS certificate was replaced', { file: this.#files.cert });
      }
    } catch (error) {
      const fault = `the TLS certificate is refused, and the previous one stays in force: ${messageOf(error)}`;
      if (fault !== this.#fault) this.#log.error(fault, { file: this.#files.cert });
      this.#fault = fault;
    }
    this.#noteEnd();
  }

  #noteEnd(): void {
    const end = endOf(this.#files, this.#pair);
    if (end !== undefined && end !== this.#end) this.#log.error(end);
    this.#end = end;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Errors: a file cannot be read or used, or the key is that of another certificate. */
export function readPair(files: TlsFiles): ReadPair {
  const [cert, key] = [readOwn(files.cert).toString(), readOwn(files.key).toString()];
  const parsed = parse(files.cert, () => new X509Certificate(cert));
  // Why ourselves: OpenSSL takes an empty file, and a key of another kind, and then refuses each connection.
  if (!parsed.checkPrivateKey(parse(files.key, () => createPrivateKey(key))))
    throw new Error(`${files.key} is not the key of ${files.cert}: mismatch`);
  createSecureContext({ cert, key });
  return { cert, key, endMs: Date.parse(parsed.validTo) };
}

function parse<Value>(file: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** A sentence for the owner; undefined: the certificate is valid. */
export function endOf({ cert }: TlsFiles, { endMs }: Pick<ReadPair, 'endMs'>): string | undefined {
  if (endMs > Date.now()) return undefined;
  return `the TLS certificate ${cert} ended at ${new Date(endMs).toISOString()}; renew it`;
}
