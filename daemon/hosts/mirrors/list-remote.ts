// Requests the location of a repository and its branches and tags: over HTTP without git, else by `git ls-remote`.

import { LRUCache } from 'lru-cache';
import type { Log } from '../../base/log.ts';
import { TimeLimit } from '../../base/time-limit.ts';
import { HostError } from '../host.ts';
import { HostTransport } from '../transport.ts';
import { passedVariables } from '../../sources/git/git.ts';
import { MirrorError, tooManyRefs } from './mirror-error.ts';
import { type Remote, runRemoteGit } from './remote-git.ts';
import { parseListed, REMOTE_REFS_SIZE_MAX, type RemoteRefs } from './remote-refs.ts';
import { isHttp } from '../remote-address.ts';
import { listOverHttp } from './smart-http.ts';

export interface ListRemoteOptions {
  readonly remote: Remote;
  readonly caFile: string | undefined;
  /** Absolute path. */
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The remote, at its current address, and its refs. Errors: HostError; MirrorError; ConfigError; the reason of the signal. */
export async function listRemote(
  options: ListRemoteOptions,
): Promise<{ readonly remote: Remote; readonly refs: RemoteRefs }> {
  const { remote, caFile, log } = options;
  const { address, credential } = remote;
  if (isHttp(address)) {
    const { fetch } = transportOf(address.url, caFile, log);
    const { url, refs } = await inTime(options, (limited) =>
      listOverHttp({ address, credential, fetch, signal: limited }),
    );
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

/** By host and certificates, cached to reuse connections. Bound: open connections and memory. */
const open = new LRUCache<string, HostTransport>({
  max: 32,
  dispose: (transport) => void transport.close(),
});

/** Errors: ConfigError. */
function transportOf(url: string, caFile: string | undefined, log: Log): HostTransport {
  const { origin } = new URL(url);
  const key = `${origin} ${caFile ?? ''}`;
  const cached = open.get(key);
  if (cached !== undefined) return cached;
  const limits = { bytes: REMOTE_REFS_SIZE_MAX };
  const transport = new HostTransport({ url: origin, caFile, log, env: passedVariables(), limits });
  open.set(key, transport);
  return transport;
}

/** Aborts all waiting requests. */
export function closeTransports(): void {
  open.clear();
}
