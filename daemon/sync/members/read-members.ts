// Fetches who may read one repository from its host: the complete list, or an error.

import { type Host, HostError, type HostMember, type HostRepo } from '../../hosts/host.ts';
import { TimeLimit } from '../../base/time-limit.ts';
import { ReaderSet } from '../../store/host-readers.ts';

const READERS_MAX = 200_000;
/** Shifting pages repeat some; the bound stops a host that repeats them for ever. */
const ANSWERS_MAX = 2 * READERS_MAX;
const LIST_MS_MAX = 600_000;

export type MemberQuery = Pick<HostRepo, 'hostId' | 'path'>;

/** Errors: HostError, also for a host without such lists, with too long ones, or too slow; the reason of the signal. */
export async function readMembers(
  host: Pick<Host, 'members' | 'nameHost'>,
  repo: MemberQuery,
  signal: AbortSignal,
): Promise<ReaderSet> {
  const { nameHost } = host;
  if (host.members === undefined)
    throw new HostError(
      'NOT_SUPPORTED',
      `${nameHost} cannot list the readers of its repositories; remove syncPermissions from the connection, ` +
        'and grant access by permissions.grants',
    );
  const limit = new TimeLimit(LIST_MS_MAX, signal);
  try {
    return await gather(host.members(repo, limit.signal), `${nameHost}/${repo.path}`, limit.signal);
  } catch (error) {
    if (!limit.isOver) throw error;
    const minutes = LIST_MS_MAX / 60_000;
    throw new HostError(
      'HOST_UNAVAILABLE',
      `${nameHost}/${repo.path}: its readers were not listed within ${minutes} minutes; check whether the host is overloaded`,
    );
  } finally {
    limit.end();
  }
}

async function gather(
  members: AsyncIterable<HostMember>,
  name: string,
  signal: AbortSignal,
): Promise<ReaderSet> {
  const readers = new ReaderSet();
  let answerCount = 0;
  for await (const { accountId, emails } of members) {
    signal.throwIfAborted();
    readers.add(accountId, emails);
    if (readers.size > READERS_MAX || ++answerCount > ANSWERS_MAX)
      throw new HostError(
        'TOO_MANY_READERS',
        `${name}: more than ${READERS_MAX} readers, which is the limit; grant access to everyone by permissions.grants`,
      );
  }
  signal.throwIfAborted();
  return readers;
}
