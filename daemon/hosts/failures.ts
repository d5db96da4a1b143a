// What went wrong with a request to a code host, as one error with host, what was asked, cause and next step. Client libraries
// have errors of their own, which hold the request with its headers: none of them goes any further than this file.

import { messageOf, systemCodeOf } from '../base/caught.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { HostError, type ListingIssue, UnreachableError } from './host.ts';

/** What was asked, for people. */
export interface Question {
  /** Name of the host, with port. */
  readonly host: string;
  /** Method and path, without query; or what a client library was asked for. */
  readonly what: string;
}

/** Errors of TLS that no repetition mends. */
const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Whether the certificate of the host was refused. */
export function isCertificateFault(error: unknown): boolean {
  return causesOf(error).some((cause) => CERTIFICATE_CODES.test(systemCodeOf(cause) ?? ''));
}

const SILENCE_CODES = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** Whether the host said nothing for too long. */
export function isSilence(error: unknown): boolean {
  return causesOf(error).some((cause) => SILENCE_CODES.includes(systemCodeOf(cause) ?? ''));
}

/** The error of a request that brought no answer. */
export function networkFailure(error: unknown, { host, what }: Question): HostError {
  const cause = causesOf(error).at(-1);
  const code = systemCodeOf(cause);
  const reason = `${host}: ${what}: ${causeText(cause)}${code === undefined ? '' : ` (${code})`}`;
  if (isCertificateFault(error))
    return new HostError(
      'CERTIFICATE_REFUSED',
      `${reason}; name the file of the certificates to trust in tls.caFile`,
    );
  return new UnreachableError(
    'HOST_UNAVAILABLE',
    `${reason}; check that the host can be reached from this machine, and HTTPS_PROXY and NO_PROXY`,
  );
}

function causeText(cause: unknown): string {
  return oneLine(messageOf(cause)) || 'no connection';
}

/** The error and what it came of, down to the last; several addresses of a host have one error each. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < 8;) {
    causes.push(cause);
    if (cause instanceof AggregateError && cause.errors.length > 0) cause = cause.errors[0];
    else cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

/** Code and next step by the status of an answer. */
const BY_STATUS: Readonly<Record<number, readonly [code: string, cause: string, step: string]>> = {
  401: [
    'NOT_AUTHENTICATED',
    'the credential is not taken',
    'it may be wrong, expired or revoked: put a new one where `token` points to',
  ],
  403: [
    'NOT_ALLOWED',
    'the credential may not read this',
    'give it the right to read repositories and their metadata',
  ],
  404: [
    'NOT_FOUND',
    'there is nothing, or nothing that the credential may see',
    'check the name in the configuration, and the rights of the credential',
  ],
};
const SAME_AS: Readonly<Record<number, number>> = { 407: 403, 410: 404, 451: 403 };

/**
 * The error of an answer with a status from 400 on.
 *
 * @param said  what the host says of it; one line of it is shown
 */
export function statusFailure(status: number, said: string, { host, what }: Question): HostError {
  const [code, cause, step] = BY_STATUS[SAME_AS[status] ?? status] ?? [
    status >= 500 ? 'HOST_UNAVAILABLE' : 'HOST_REFUSES',
    'the host does not answer this',
    status >= 500
      ? 'try again when the host is well'
      : 'check `url` and the type of the connection',
  ];
  const words = oneLine(said);
  const answer = words === '' ? String(status) : `${status} "${words}"`;
  return new HostError(code, `${host}: ${what}: ${cause} (${answer}); ${step}`);
}

/** The error of an answer that is none: a page for people, half a text, another shape. */
export function answerFailure(reason: string, { host, what }: Question): HostError {
  return new HostError(
    'HOST_ANSWER_INVALID',
    `${host}: ${what}: the answer is not of the expected form (${oneLine(reason)}); check \`url\` and the type of the connection`,
  );
}

/**
 * What a client library threw, as HostError: one that came up through it, or by the status that it tells.
 *
 * @param secrets  their texts are taken out of what the host says
 */
export function failureOf(
  error: unknown,
  question: Question,
  secrets: readonly (SecretText | undefined)[] = [],
): HostError {
  const causes = causesOf(error);
  const known = causes.find((cause) => cause instanceof HostError);
  if (known instanceof HostError) return known;
  const status = causes.map(statusOf).find((status) => status !== undefined);
  const said = withoutSecrets(messageOf(saidBy(error)), secrets);
  if (status !== undefined && status >= 400) return statusFailure(status, said, question);
  return answerFailure(said, question);
}

/** The status that an error of a client library holds, or the answer that it holds. */
function statusOf(cause: unknown): number | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  if ('status' in cause && typeof cause.status === 'number') return cause.status;
  return 'response' in cause ? statusOf(cause.response) : undefined;
}

/** What the host says, where the library kept the body of its answer. */
function saidBy(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  for (const name of ['response', 'data', 'error'] as const) {
    const inner: unknown = Reflect.get(error, name);
    if (typeof inner === 'object' && inner !== null) return saidBy(inner);
  }
  return 'message' in error ? error.message : error instanceof Error ? error : '';
}

function withoutSecrets(text: string, secrets: readonly (SecretText | undefined)[]): string {
  return secrets.reduce(
    (safe, secret) => (secret === undefined ? safe : safe.replaceAll(secret.reveal(), '(hidden)')),
    text,
  );
}

/** Guess: as much of what a host says as helps. */
const SAID_MAX = 200;

function oneLine(text: string): string {
  return text
    .slice(0, 4 * SAID_MAX)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, SAID_MAX);
}

/**
 * What is said of a target of a connection that could not be listed. A single repository that is not there is gone; what an
 * organization holds that is not there is not known: it may have another name now, or the credential fewer rights.
 *
 * @param target  named as in the configuration: `orgs: acme`
 */
export function issueOf(
  error: HostError,
  { name, isRepo = false }: { readonly name: string; readonly isRepo?: boolean },
): ListingIssue {
  const isGone = error.code === 'NOT_FOUND' && isRepo;
  return {
    code: error.code,
    target: name,
    effect: isGone ? 'TARGET_SKIPPED' : 'DISCOVERY_INCOMPLETE',
    message: error.message,
  };
}
