// The start of a daemon whose store others change meanwhile.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import { type Daemon, startDaemon } from '../../daemon/app/main.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { fetchInProcess } from '../http/in-process.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { onPostgres } from '../store/harness.ts';

/** A daemon with one source, once that is indexed. */
async function startIndexed(folder: string, env: Record<string, string>): Promise<Daemon> {
  const base = { TRAWL_PORT: '0', TRAWL_WORKERS: '1', TRAWL_SECRET: 's'.repeat(32) };
  const configuration = readConfiguration({ env: { ...base, ...env } });
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const daemon = await startDaemon({ configuration, log, sources: [folder] });
  await daemon.indexed;
  return daemon;
}

/** Repositories that somebody without an account sees. */
async function countVisible(daemon: Daemon): Promise<number> {
  const answer = await fetchInProcess(daemon, '/api/repos');
  const repos = (await answer.json()) as unknown[];
  return repos.length;
}

onPostgres('a start', ({ withStore }) => {
  test('a repo that another daemon hides meanwhile is hidden', (t) =>
    withStore(async (other, { databaseUrl }) => {
      const folder = makeRepo({ 'a.txt': 'plum\n' });
      const env = { TRAWL_DATA_DIR: temporaryFolder(), TRAWL_DATABASE_URL: databaseUrl! };
      const first = await startIndexed(folder, env);
      assert.equal(await countVisible(first), 1);
      await first.close();
      const open = Accounts.open.bind(Accounts);
      // The repos have been read by then, and the daemon has heard of the change when it goes on.
      t.mock.method(Accounts, 'open', async (options: Parameters<typeof open>[0]) => {
        const isHeard = new Promise<void>((resolve) =>
          options.store.onChange((change) => {
            if ('topic' in change && change.topic === 'repos') resolve();
          }),
        );
        await other.repos.change(({ repos }) => ({
          changed: repos.map((repo) => ({ ...repo, enforcement: 'all' })),
          result: undefined,
        }));
        await isHeard;
        return open(options);
      });
      const second = await startIndexed(folder, env);
      const visibleCount = await countVisible(second);
      await second.close();
      assert.equal(visibleCount, 0);
    }));
});
