// The certificate of the daemon's own TLS, from two files: read at the start, on SIGHUP, and every minute, as programs that
// renew it only write files. Bad new files change nothing and are reported until they are replaced.

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

export class Certificate {
  readonly #files: TlsFiles;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #pair: { readonly cert: string; readonly key: string };
  #fault: string | undefined;
  #onChange: (pair: CertificatePair) => void = () => {};

  /** Errors: ConfigError. */
  constructor(files: TlsFiles, log: Log) {
    this.#files = files;
    this.#log = log;
    try {
      this.#pair = read(files);
    } catch (error) {
      throw new ConfigError(
        NAMES,
        messageOf(error),
        'allowed: PEM files of a certificate, with its chain, and of its key',
      );
    }
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  /** Problems, as sentences for the owner. */
  get degradations(): readonly string[] {
    return this.#fault === undefined ? [] : [this.#fault];
  }

  /** @param listener  is called now and with each new pair */
  onChange(listener: (pair: CertificatePair) => void): void {
    this.#onChange = listener;
    listener(this.#pair);
  }

  /** Reads the files again. Errors: none. */
  check(): void {
    try {
      const pair = read(this.#files);
      this.#fault = undefined;
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return;
      this.#pair = pair;
      this.#onChange(pair);
      this.#log.info('the TLS certificate was replaced', { file: this.#files.cert });
    } catch (error) {
      const fault = `the TLS certificate is refused, and the previous one stays in force: ${messageOf(error)}`;
      if (fault !== this.#fault) this.#log.error(fault, { file: this.#files.cert });
      this.#fault = fault;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Errors: a file cannot be read or used, or the key is that of another certificate. */
function read(files: TlsFiles): { readonly cert: string; readonly key: string } {
  const pair = { cert: readOwn(files.cert).toString(), key: readOwn(files.key).toString() };
  createSecureContext(pair);
  return pair;
}
