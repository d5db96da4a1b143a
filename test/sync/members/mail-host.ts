// A host that tells verified addresses of readers. Its data and failures can be changed while it runs.

import { HostError, type HostMember } from '../../../daemon/hosts/host.ts';
import type { MemberHost } from '../../../daemon/sync/members/member-sync.ts';

export class MailHost implements MemberHost {
  readonly nameHost = 'mail.example';
  /** Addresses by path. */
  readonly readers = new Map<string, readonly string[]>();
  /** Error codes by path; `cut`: after the last reader. */
  readonly failing = new Map<string, string>();
  onRequested: (path: string) => Promise<void> = async () => {};

  async *members(
    { path }: { readonly path: string },
    signal: AbortSignal,
  ): AsyncGenerator<HostMember> {
    await this.onRequested(path);
    signal.throwIfAborted();
    const failure = this.failing.get(path);
    if (failure !== undefined && failure !== 'cut') throw new HostError(failure, 'do what it says');
    for (const [index, email] of (this.readers.get(path) ?? []).entries())
      yield { accountId: `${index} ${email}`, emails: [email] };
    if (failure === 'cut') throw new HostError('HOST_UNAVAILABLE', 'see that it runs');
  }
}
