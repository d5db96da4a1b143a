// A test host with verified addresses: its API is a server on loopback that answers page by page, with a client of a
// few lines. Its data and failures can be changed while it runs.

import type { TestContext } from 'node:test';
import { HostError } from '../../../daemon/hosts/host.ts';
import type { MemberHost } from '../../../daemon/sync/members/member-sync.ts';
import { startServer, type RunningServer } from '../../hosts/servers.ts';

export interface MailHost {
  /** Addresses by path. */
  readonly readers: Map<string, readonly string[]>;
  /** What is answered instead, by path: a status, or `cut` in the midst of the second page. */
  readonly failing: Map<string, number | 'cut'>;
  readonly server: RunningServer;
  onRequested: (path: string) => Promise<void>;
  readonly open: () => MemberHost;
}

interface Page {
  readonly members: readonly { readonly id: string; readonly emails: readonly string[] }[];
  readonly next: number | null;
}

const CODES: Readonly<Record<number, string>> = {
  401: 'NOT_AUTHENTICATED',
  403: 'NOT_ALLOWED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMITED',
};

export async function startMailHost(
  t: Pick<TestContext, 'after'>,
  pageSize = 2,
): Promise<MailHost> {
  const readers = new Map<string, readonly string[]>();
  const failing = new Map<string, number | 'cut'>();
  const server = await startServer(t, async ({ path: requested, query }) => {
    const path = requested.slice(1);
    await host.onRequested(path);
    const from = Number(query.get('from'));
    const failure = failing.get(path);
    if (failure !== undefined && (from > 0 || failure !== 'cut'))
      return failure === 'cut' ? { body: { members: [] }, cutAt: 5 } : { status: failure };
    const all = readers.get(path) ?? [];
    const members = all
      .slice(from, from + pageSize)
      .map((email, index) => ({ id: `${from + index} ${email}`, emails: [email] }));
    const next = from + pageSize < all.length || failure === 'cut' ? from + pageSize : null;
    return { body: { members, next } satisfies Page };
  });
  const host: MailHost = {
    readers,
    failing,
    server,
    onRequested: async () => {},
    open: () => ({
      nameHost: 'mail.example',
      members: ({ path }, signal) => members(server.url, path, signal),
    }),
  };
  return host;
}

async function* members(url: string, path: string, signal: AbortSignal) {
  for (let from: number | null = 0; from !== null;) {
    const page: Page = await pageOf(`${url}/${path}?from=${from}`, signal);
    for (const { id, emails } of page.members) yield { accountId: id, emails };
    from = page.next;
  }
}

async function pageOf(address: string, signal: AbortSignal): Promise<Page> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(address, { signal });
    text = await answer.text();
  } catch (error) {
    signal.throwIfAborted();
    throw new HostError('HOST_UNAVAILABLE', `mail.example: ${String(error)}; see that it runs`);
  }
  if (answer.ok) return JSON.parse(text) as Page;
  const code = CODES[answer.status] ?? 'HOST_UNAVAILABLE';
  throw new HostError(code, `mail.example answers ${answer.status}; do what it says`);
}
