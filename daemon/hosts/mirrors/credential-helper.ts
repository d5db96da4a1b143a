// Passes a credential to git: a helper, a short shell script on git's command line, reads it from a pipe that git and its
// children inherit (file 3) and that can be read once. So the credential is in no argument, variable or file, and goes only
// to its host, whatever a redirect or a proxy asks for.
// Measured: 2026-11-23, see daemon/DECISIONS.md.

import { MirrorError } from './mirror-error.ts';
import type { GitCredential } from '../host.ts';

/**
 * Source: gitcredentials(7), git-credential(1). Only shell built-ins: the arguments of `printf` appear on no command line.
 */
const HELPER = [
  '!f() { test "$1" = get || exit 0',
  'while IFS=\'=\' read -r k v && test -n "$k"',
  'do case $k in protocol) p=$v;; host) h=$v;; esac; done',
  'IFS= read -r o <&3 && test "$p://$h" = "$o" || exit 0',
  'while IFS= read -r l; do printf \'%s\\n\' "$l"; done <&3; }',
  'f',
].join('; ');

export interface CredentialAccess {
  readonly settings: readonly string[];
  /** For file 3 of the process. */
  readonly secret: string | undefined;
}

/**
 * Settings and secret that give git the credential.
 *
 * @param url  http(s); only its origin gets it
 *
 * Errors: MirrorError if the credential cannot be passed.
 */
export function credentialAccess(
  url: string,
  credential: GitCredential | undefined,
): CredentialAccess {
  if (credential === undefined) return { settings: [], secret: undefined };
  const { protocol, host } = new URL(url);
  const { user } = credential;
  const password = credential.password.reveal();
  if (/[\0\n\r]/.test(user + password))
    throw new MirrorError('ADDRESS_REFUSED', `${host}: the credential has several lines`);
  return {
    settings: [`credential.helper=${HELPER}`],
    secret: `${protocol}//${host}\nusername=${user}\npassword=${password}\n`,
  };
}
