// Converts failures of requests to code hosts to one error with host, request, cause and next step.

import { messageOf, systemCodeOf } from '../base/caught.ts';
import { HostError, type ListingIssue, UnreachableError } from './host.ts';

/** A request, as text for people. */
export interface Question {
  /** Name of the host, with port. */
  readonly host: string;
  /** Method and path, without query. */
  readonly what: string;
}

/** TLS errors that no retry fixes. */
const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Whether the host's certificate was refused. */
export function isCertificateFault(error: unknown): boolean {
  return causesOf(error).some((cause) => CERTIFICATE_CODES.test(systemCodeOf(cause) ?? ''));
}

const SILENCE_CODES = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** Whether the host was silent for too long. */
export function isSilence(error: unknown): boolean {
  return causesOf(error).some((cause) => SILENCE_CODES.includes(systemCodeOf(cause) ?? ''));
}

/** The error of a request without an answer. */
export function networkFailure(error: unknown, { host, what }: Question): HostError {
  const cause = causesOf(error).at(-1);
  const code = systemCodeOf(cause);
  const text = oneLine(messageOf(cause)) || 'no connection';
  const reason = `${host}: ${what}: ${text}${code === undefined ? '' : ` (${code})`}`;
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

/** The error and its causes, recursively; a host with several addresses has one error each. */
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
    'the credential is refused or missing',
    'it may be wrong, expired or revoked: put a new one where `token` points to; a connection without `token` reads only what is public',
  ],
  403: [
    'NOT_ALLOWED',
    'the credential may not read this',
    'give it the right to read repositories and their metadata',
  ],
  404: [
    'NOT_FOUND',
    'not found, or not visible to the credential',
    'check the name in the configuration, and the rights of the credential',
  ],
};
const SAME_AS: Readonly<Record<number, number>> = { 407: 403, 410: 404, 451: 403 };

/** The error of an answer with a status from 400 on. @param said  the host's message; one line of it is included */
export function statusFailure(status: number, said: string, { host, what }: Question): HostError {
  const [code, cause, step] = BY_STATUS[SAME_AS[status] ?? status] ?? [
    status >= 500 ? 'HOST_UNAVAILABLE' : 'HOST_REFUSES',
    'the host does not support this request',
    status >= 500
      ? 'try again when the host has recovered'
      : 'check `url` and the type of the connection',
  ];
  const words = oneLine(said);
  const answer = words === '' ? String(status) : `${status} "${words}"`;
  return new HostError(code, `${host}: ${what}: ${cause} (${answer}); ${step}`);
}

/** The error of an invalid answer: an HTML page, a truncated text, another shape. */
export function answerFailure(reason: string, { host, what }: Question): HostError {
  return new HostError(
    'HOST_ANSWER_INVALID',
    `${host}: ${what}: the answer is not of the expected form (${oneLine(reason)}); check \`url\` and the type of the connection`,
  );
}

/** Bound: length of a host's message in logs and answers. */
const SAID_MAX = 200;

function oneLine(text: string): string {
  return text
    .slice(0, 4 * SAID_MAX)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, SAID_MAX);
}

/**
 * The issue of a target, `orgs: acme`, that could not be listed. A missing repository is gone; the content of a missing
 * organization is unknown: it may have been renamed, or the credential may have lost rights.
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
