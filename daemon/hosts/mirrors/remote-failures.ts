// Converts git's messages about a remote to an error with code, cause and next step, as for our own requests to hosts
// (hosts/failures.ts). Source: messages of git 2.39, libcurl, OpenSSH.

import { HostError } from '../host.ts';
import type { RemoteAddress } from '../remote-address.ts';
import { failureWords, plainWords } from '../../sources/git/stderr-text.ts';

interface Cause {
  readonly pattern: RegExp;
  readonly code: string;
  readonly cause: string;
  readonly step: string;
}

const FAILURES: readonly Cause[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    code: 'HOST_KEY_CHANGED',
    cause: 'its ssh key differs from the one in known_hosts',
    step: 'ask who runs the host whether it was changed, then put the new key into known_hosts',
  },
  {
    pattern: /Host key verification failed|No \S+ host key is known/,
    code: 'HOST_KEY_UNKNOWN',
    cause: 'its ssh key is not in known_hosts',
    step: 'get it with `ssh-keyscan`, compare its fingerprint with what the host publishes, and add it to ~/.ssh/known_hosts of the account that runs Trawl',
  },
  {
    pattern: /Permission denied \(|Too many authentication failures/,
    code: 'NOT_AUTHENTICATED',
    cause: 'it accepts no ssh key of this account',
    step: 'give the host the public key of the account that runs Trawl, and an agent the key if it has a passphrase',
  },
  {
    pattern: /Authentication failed|could not read (?:Username|Password)|returned error: 401/,
    code: 'NOT_AUTHENTICATED',
    cause: 'the credential is refused or missing',
    step: 'it may be wrong, expired or revoked: put a new one where `token` points to',
  },
  {
    pattern: /returned error: 403/,
    code: 'NOT_ALLOWED',
    cause: 'the credential may not read this',
    step: 'give it the right to read repositories',
  },
  {
    pattern: /returned error: 3\d\d/,
    code: 'REDIRECT_REFUSED',
    cause: 'the host points to another address',
    step: 'name the new address in the connection',
  },
  {
    pattern:
      /repository '[^\n]*' not found|returned error: (?:404|410)|does not appear to be a git repository/i,
    code: 'NOT_FOUND',
    cause: 'the repository does not exist, or is not visible to the credential',
    step: 'check the address, and the rights of the credential',
  },
  {
    pattern: /info\/refs not valid/,
    code: 'HOST_ANSWER_INVALID',
    cause: 'the answer is not what git expects',
    step: 'check the address, and that it is not behind a sign-in page',
  },
  {
    pattern: /certificate|SSL|TLS/,
    code: 'CERTIFICATE_REFUSED',
    cause: 'its certificate is not trusted',
    step: 'name the file of the certificates to trust in tls.caFile',
  },
  {
    pattern:
      /Could not resolve|unable to look up|Failed to connect|Connection (?:refused|timed out|reset|closed)|timed out|unable to connect|No route to host|Network is unreachable|Operation too slow|early EOF|hung up|RPC failed|unexpected disconnect|returned error: (?:429|5\d\d)|invalid index-pack output|pack has bad object|premature end|fetch-pack: |remote error|expected flush|protocol error|inflate|bad pack/i,
    code: 'HOST_UNAVAILABLE',
    cause: 'the host does not answer, or not completely',
    step: 'check that it can be reached from this machine, and HTTPS_PROXY and NO_PROXY',
  },
];

/**
 * The host's failure according to the messages; undefined: not a failure of the host.
 * @param messages  of git, without secrets
 */
export function remoteFailure(messages: string, address: RemoteAddress): HostError | undefined {
  const failure = FAILURES.find(({ pattern }) => pattern.test(messages));
  if (failure === undefined) return undefined;
  const { code, cause, step } = failure;
  return new HostError(
    code,
    `${address.host}: ${cause} (${lineOf(messages, failure.pattern)}); ${step}`,
  );
}

/** The most useful line: the one that matches, else git's reason. */
export function lineOf(messages: string, pattern?: RegExp): string {
  const line = pattern && messages.split('\n').find((text) => pattern.test(text));
  const words = line === undefined ? failureWords(messages) : plainWords(line);
  return words === '' ? 'git says nothing' : words;
}
