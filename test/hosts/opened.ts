// Opens a host in a test, and reads its whole listing.

import type { TestContext } from 'node:test';
import { connectionSchema } from '../../daemon/base/config/connections.ts';
import type { Host, HostRepo, ListingIssue, ListingPage } from '../../daemon/hosts/host.ts';
import { openHost, type HostOptions } from '../../daemon/hosts/open-host.ts';
import { recordingLog } from './servers.ts';

export const SIGNAL = new AbortController().signal;

export interface OpenedHost {
  readonly host: Host;
  /** Of its log. */
  readonly lines: readonly string[];
}

/** @param settings  of a connection, as in the configuration file */
export async function openedHost(
  t: Pick<TestContext, 'after'>,
  settings: Readonly<Record<string, unknown>>,
  options: Partial<HostOptions> = {},
): Promise<OpenedHost> {
  const { log, lines } = recordingLog();
  const limits = { retryMs: 1, ...options.limits };
  const parts = { log, env: {}, apps: [], ...options, limits };
  const host = await openHost('test', connectionSchema.parse(settings), parts);
  t.after(() => host.close());
  return { host, lines };
}

export interface Listed {
  readonly repos: readonly HostRepo[];
  readonly issues: readonly ListingIssue[];
  readonly pages: readonly ListingPage[];
}

/** @param onPage  called with each page before the next one is requested */
export async function listAll(
  host: Host,
  onPage: (page: ListingPage) => void = () => {},
): Promise<Listed> {
  const pages: ListingPage[] = [];
  for await (const page of host.list(SIGNAL)) {
    pages.push(page);
    onPage(page);
  }
  return {
    repos: pages.flatMap(({ repos }) => repos),
    issues: pages.flatMap(({ issues }) => issues),
    pages,
  };
}

export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}
