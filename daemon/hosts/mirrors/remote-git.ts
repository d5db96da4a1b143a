// Runs git commands that talk to a remote: allowed protocols, credentials, limits of time and size, and errors. The
// settings for all gits of the daemon apply too (sources/git/).

import { DISK_FULL_REMEDY } from '../../base/caught.ts';
import { watchProgress } from '../../sources/git/git-watch.ts';
import { GitError, type GitOptions, type GitProcess, startGit } from '../../sources/git/git.ts';
import { watchSpace } from './free-space.ts';
import { type FetchStep, ProgressReader } from './git-progress.ts';
import { MirrorError, tooManyRefs } from './mirror-error.ts';
import { isHttp, type RemoteAddress } from '../remote-address.ts';
import { lineOf, remoteFailure } from './remote-failures.ts';
import type { GitCredential } from '../host.ts';

export interface Remote {
  readonly address: RemoteAddress;
  /** For http(s). */
  readonly credential: GitCredential | undefined;
  /** PEM, all trusted ones; undefined: those of the system. */
  readonly certificates: string | undefined;
}

export interface RemoteRun {
  readonly remote: Remote;
  /** Absolute path of the mirror; absent: none yet. */
  readonly repoPath?: string;
  /** Absolute path, on the disk that is written to. */
  readonly cwd: string;
  readonly settings?: readonly string[];
  /** In total, ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: FetchStep) => void) | undefined;
  /** Bytes of standard output; default: it is discarded. */
  readonly outputSizeMax?: number;
}

/** Unit: s. Of silence on the network, for git's own connections; sources/git/git-watch.ts covers the rest. */
const SILENCE_S = 60;

/**
 * Never prompts, refuses unknown hosts, and uses only the keys of the account or its agent. Source: ssh_config(5); the
 * first value counts.
 */
const SSH_COMMAND = [
  'ssh',
  ...[
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'ConnectTimeout=15',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=4',
    'ForwardAgent=no',
    'ForwardX11=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'ControlMaster=no',
  ].flatMap((option) => ['-o', option]),
].join(' ');

/** Settings of a fetch besides the common ones (sources/git/git-settings.ts). */
const FETCH_SETTINGS: readonly string[] = [
  // The repository was located before; git follows no redirect.
  'http.followRedirects=false',
  'http.lowSpeedLimit=1',
  `http.lowSpeedTime=${SILENCE_S}`,
  'protocol.version=2',
  // All objects come as packs, whose checksums can be checked.
  'fetch.unpackLimit=1',
  'transfer.unpackLimit=1',
  'transfer.fsckObjects=false',
  'fetch.fsckObjects=false',
  'transfer.bundleURI=false',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  // A fetch is never undone, and its log would keep unreached objects.
  'core.logAllRefUpdates=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Bounds on memory: larger objects are streamed, on as many threads.
  'core.bigFileThreshold=64m',
  'pack.threads=2',
];

/**
 * Runs a git command that talks to the remote; returns its standard output. Errors: HostError if the host failed,
 * MirrorError if this machine failed or the cause is unknown; the reason of the signal.
 */
export async function runRemoteGit(args: readonly string[], run: RemoteRun): Promise<Buffer> {
  run.signal.throwIfAborted();
  const progress = new ProgressReader(run.onProgress);
  const git = startGit(args, { ...gitOptions(run), onErrorText: (text) => progress.push(text) });
  const output = gather(git, run.outputSizeMax ?? 0);
  git.stdin.end();
  let shortage: MirrorError | undefined;
  const endSpace = watchSpace(run.cwd, (error) => {
    shortage = error;
    git.kill('aborted');
  });
  const endWatch = watchProgress(
    () => ({ pid: git.pid, outputSize: progress.size + output.size }),
    () => git.kill('timeout'),
  );
  try {
    await git.ended;
    return Buffer.concat(output.chunks);
  } catch (error) {
    run.signal.throwIfAborted();
    throw shortage ?? failureOf(error, run, progress.messages);
  } finally {
    endWatch();
    endSpace();
  }
}

function gitOptions(run: RemoteRun): GitOptions {
  const { remote, repoPath, cwd, timeoutMs, signal, settings = [] } = run;
  const { address, credential } = remote;
  const access = credentialAccess(address.url, isHttp(address) ? credential : undefined);
  return {
    repoPath,
    cwd,
    settings: [...FETCH_SETTINGS, ...trustSettings(remote), ...access.settings, ...settings],
    env: variablesOf(remote),
    secret: access.secret,
    isBackground: true,
    timeoutMs,
    signal,
  };
}

/** Collects git's standard output. */
function gather(
  git: GitProcess,
  sizeMax: number,
): { readonly chunks: readonly Buffer[]; readonly size: number } {
  const chunks: Buffer[] = [];
  const output = { chunks, size: 0 };
  git.stdout.on('data', (chunk: Buffer) => {
    output.size += chunk.length;
    if (output.size > sizeMax) git.kill('output_too_large');
    else chunks.push(chunk);
  });
  return output;
}

/**
 * Why variables: they beat the settings that keep ssh from being run for a repository
 * (sources/git/git-settings.ts).
 */
function variablesOf({ address }: Remote): Readonly<Record<string, string>> {
  return {
    GIT_ALLOW_PROTOCOL: address.protocol,
    GIT_SSH_COMMAND: SSH_COMMAND,
    GIT_SSH_VARIANT: 'ssh',
  };
}

function trustSettings({ address, certificates }: Remote): string[] {
  return address.protocol === 'https' && certificates !== undefined
    ? [`http.sslCAInfo=${certificates}`]
    : [];
}

function failureOf(error: unknown, run: RemoteRun, written: string): unknown {
  if (!(error instanceof GitError)) return error;
  const { address, credential } = run.remote;
  if (error.failure === 'timeout')
    return new MirrorError(
      'TIMEOUT',
      `${address.host}: git made no progress for long, or took more than ${run.timeoutMs} ms; try again, or raise repoIndexTimeoutMs or gitTimeoutMs`,
    );
  if (error.failure === 'output_too_large')
    return tooManyRefs(address.host, run.outputSizeMax ?? 0);
  if (error.failure !== 'exit') return error;
  const messages = withoutSecret(written, credential);
  if (/No space left on device|Disk quota exceeded/.test(messages))
    return new MirrorError(
      'DISK_FULL',
      `${run.cwd}: ${lineOf(messages)}; select fewer repositories, or ${DISK_FULL_REMEDY}`,
    );
  return (
    remoteFailure(messages, address) ??
    new MirrorError('GIT_FAILED', `${address.host}: git ${error.command}: ${lineOf(messages)}`)
  );
}

/** Hosts may repeat what they received. */
function withoutSecret(text: string, credential: GitCredential | undefined): string {
  const secret = credential?.password.reveal() ?? '';
  if (secret === '') return text;
  const encoded = Buffer.from(`${credential!.user}:${secret}`).toString('base64');
  return [secret, encodeURIComponent(secret), encoded].reduce(
    (safe, form) => safe.replaceAll(form, '(hidden)'),
    text,
  );
}

/**
 * git's credential helper: a shell script on its command line that reads the credential from a pipe that git and its
 * children inherit (file 3), once. So the credential is in no argument, variable or file, and goes only to its host,
 * whatever a redirect or a proxy asks for. Only shell built-ins: the arguments of `printf` appear on no command line.
 * Source: gitcredentials(7), git-credential(1). Measured: 2026-11-23, see daemon/DECISIONS.md.
 */
const HELPER = [
  '!f() { test "$1" = get || exit 0',
  'while IFS=\'=\' read -r k v && test -n "$k"',
  'do case $k in protocol) p=$v;; host) h=$v;; esac; done',
  'IFS= read -r o <&3 && test "$p://$h" = "$o" || exit 0',
  'while IFS= read -r l; do printf \'%s\\n\' "$l"; done <&3; }',
  'f',
].join('; ');

/**
 * Settings and secret (for file 3 of the process) that give git the credential, for the origin of an http(s) address only.
 * Errors: MirrorError if it cannot be passed.
 */
function credentialAccess(url: string, credential: GitCredential | undefined) {
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
