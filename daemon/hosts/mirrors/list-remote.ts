// Requests the location of a repository and its branches and tags: over HTTP without git, else by `git ls-remote`.

import type { Log } from '../../base/log.ts';
import { TimeLimit } from '../../base/time-limit.ts';
import { HostError } from '../host.ts';
import { MirrorError, tooManyRefs } from './mirror-error.ts';
import { type HostEvent, type Remote, runRemoteGit } from './remote-git.ts';
import { parseListed, REMOTE_REFS_SIZE_MAX, type RemoteRefs } from './remote-refs.ts';
import { isHttp } from '../remote-address.ts';
import { listOverHttp } from './smart-http.ts';
import { transportOf } from './transports.ts';

export interface ListRemoteOptions {
  readonly remote: Remote;
  readonly caFile: string | undefined;
  /** Absolute path. */
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onHost?: ((event: HostEvent) => void) | undefined;
  readonly log: Log;
}

export interface Answer {
  /** The remote, at its current address. */
  readonly remote: Remote;
  readonly refs: RemoteRefs;
}

/** Errors: HostError; MirrorError; ConfigError; the reason of the signal. */
export async function listRemote(options: ListRemoteOptions): Promise<Answer> {
  const { remote, caFile, onHost, log } = options;
  const { address, credential } = remote;
  if (isHttp(address)) {
    const { fetch } = transportOf(address.url, caFile, log);
    onHost?.('asked');
    const { url, refs } = await inTime(options, (limited) =>
      listOverHttp({ address, credential, fetch, signal: limited }),
    );
    onHost?.('answered');
    // Safety: the transport refuses other hosts, and http in place of https.
    const protocol = url.startsWith('https:') ? 'https' : 'http';
    return { remote: { ...remote, address: { ...address, protocol, url } }, refs };
  }
  const args = ['ls-remote', '--symref', '--end-of-options', address.url];
  const patterns = ['HEAD', 'refs/heads/*', 'refs/tags/*'];
  const text = await runRemoteGit([...args, ...patterns], {
    ...options,
    outputSizeMax: REMOTE_REFS_SIZE_MAX,
  });
  try {
    return { remote, refs: parseListed(text.toString('latin1')) };
  } catch {
    throw new MirrorError('GIT_FAILED', `${address.host}: git ls-remote: it lists no refs`);
  }
}

/** Why: a host may request a wait of an hour. Errors: MirrorError after the time limit; what `run` throws. */
async function inTime<Value>(
  { remote, timeoutMs, signal }: ListRemoteOptions,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limit = new TimeLimit(timeoutMs, signal);
  try {
    return await run(limit.signal);
  } catch (error) {
    if (error instanceof HostError && error.code === 'ANSWER_TOO_LARGE')
      throw tooManyRefs(remote.address.host, REMOTE_REFS_SIZE_MAX);
    if (!limit.isOver) throw error;
    throw new MirrorError(
      'TIMEOUT',
      `${remote.address.host}: the host took more than ${timeoutMs} ms to list branches and tags; try again later`,
    );
  } finally {
    limit.end();
  }
}
