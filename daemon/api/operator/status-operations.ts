// State of the running daemon: served repositories, running and waiting jobs, connections and problems; and of each
// repository the last check at its host, the last index, and its pending work.

import { z } from 'zod';
import { AccountError } from '../../accounts/error.ts';
import { operation, pageWindow, type RepoRule } from './operation.ts';
import type { Freshness, StatusSource } from './status-report.ts';

const NO_DAEMON =
  'No daemon is running on this data directory; "trawl repo list" shows its content.';

function sourceOf(status: StatusSource | undefined): StatusSource {
  if (status === undefined) throw new AccountError('NOT_READY', NO_DAEMON);
  return status;
}

const report = operation(z.strictObject({}), ({ status }) => sourceOf(status).report());

/** A page of the served repositories, by name. */
const repos = operation(z.strictObject(pageWindow), ({ status, repos }, { offset, limit }) => {
  const source = sourceOf(status);
  const served = repos.list().filter(({ isServed }) => isServed === true);
  const all = served.sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = all.slice(offset, offset + limit);
  const freshness = source.freshness(page.map(({ repoId }) => repoId));
  const rows = page.map((rule) => rowOf(rule, freshness.get(rule.repoId)!));
  return Promise.resolve({ total: all.length, rows });
});

function rowOf({ name, indexedAt, failure }: RepoRule, { connections, askedAt, job }: Freshness) {
  return {
    repo: name,
    connection: connections.length === 0 ? null : connections.join(', '),
    askedAt,
    indexedAt: indexedAt ?? null,
    job,
    failure: failure ?? null,
  };
}

export const STATUS_OPERATIONS = { status: report, 'status.repos': repos };
