// Rules of repos in the store. Changes by flags are audited in the same step. Unreadable rules hide their repos, and
// are read again as soon as possible.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import Libsql from 'libsql';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { StoreError } from '../../daemon/store/error.ts';
import type { StoredRepo } from '../../daemon/store/repos.ts';
import { createLog } from '../../daemon/base/log.ts';
import { type Instance } from '../../daemon/app/instance.ts';
import { type Index, openIndex, ruleChanges } from '../../daemon/app/open-index.ts';
import { probeSource } from '../../daemon/sources/git/probe.ts';
import { newUser, refuses } from '../store/harness.ts';
import { eventually } from '../http/harness.ts';
import { openIndexOf } from './index-of.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

/** Rules of the repos that searches see. */
function displayed({ parts }: Instance): (string | undefined)[] {
  return parts.snapshots.current.repos.map(({ enforcement }) => enforcement);
}

test('unreadable rules: only owners see the repo, until they are readable', async () => {
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  const { instance, warnings } = index;
  const indexer = instance.indexer;
  await indexer.sources.add([makeRepo({ a: 'plum\n' })], undefined);
  instance.served.publish();
  assert.deepEqual(displayed(instance), [undefined]);
  const other = new Libsql(path.join(dataDir, 'store.db'));
  other.exec(`update repos set enforcement = 'restricted'; alter table repos rename to away`);
  await indexer.rules.apply();
  assert.deepEqual(displayed(instance), ['all']);
  assert.match(warnings.join('\n'), /could not be read again/);
  other.exec('alter table away rename to repos');
  await eventually(() => displayed(instance)[0] === 'restricted');
  other.close();
});

test('rules that cannot be read after a decision that changes nothing are read again, too', async () => {
  await using index = await openIndexOf(temporaryFolder());
  const { instance } = index;
  await instance.indexer.sources.add([makeRepo({ a: 'plum\n' })], undefined);
  const { registry, store } = instance.index;
  const { read } = store.repos;
  store.repos.read = () => {
    store.repos.read = read;
    return Promise.reject(new StoreError('NOT_READY', 'the store does not answer'));
  };
  const decision = registry.decide(() => ({ changed: [], result: undefined }));
  await refuses(decision, 'NOT_READY');
  instance.served.publish();
  assert.deepEqual(displayed(instance), ['all']);
  await eventually(() => displayed(instance)[0] === undefined);
});

const log = createLog({ level: 'warn', format: 'text', write: (line) => logged.push(line) });
const logged: string[] = [];

/** What the audit says of who may see repos, oldest first. */
async function recorded({ store }: Index): Promise<unknown[]> {
  const { rows } = await store.audit.list({ offset: 0, limit: 100 });
  return rows.map(({ actorId, metadata }) => ({ actorId, ...metadata })).reverse();
}

/** A record of one repo; its rules before and after: visibility and enforcement, null: it is not there. */
const changed = (repo: string, repoId: number, ...[from, to]: (string | null)[]): object => ({
  actorId: 'operator',
  from: rulesOf(from),
  to: rulesOf(to),
  repoIds: [repoId],
  repos: [`local/${path.basename(repo)}`],
  repoCount: 1,
});

function rulesOf(text: string | null | undefined): object | null {
  const [visibility, enforcement] = text?.split(' ') ?? [];
  return visibility === undefined ? null : { visibility, enforcement };
}

test('who may see a repo is audited on creation and each change, or neither is stored', async () => {
  const dataDir = temporaryFolder();
  const index = await openIndex(dataDir, undefined, log);
  const { registry } = index;
  const repo = makeRepo({ a: 'plum\n' });
  const probed = await probeSource(repo);
  await registry.admit([probed], {});
  const come = changed(repo, 1, null, 'unknown none');
  assert.deepEqual(await recorded(index), [come]);
  const [{ repoId }] = [...registry.all] as [StoredRepo];
  const closed = { visibility: 'private', enforcement: 'restricted' } as const;
  await registry.change(new Set([repoId]), closed, { flags: closed });
  await registry.admit([probed], closed);
  const shut = changed(repo, 1, 'unknown none', 'private restricted');
  assert.deepEqual(await recorded(index), [come, shut]);
  const other = new Libsql(path.join(dataDir, 'store.db'));
  other.exec('alter table audit rename to away');
  await assert.rejects(registry.admit([probed], { enforcement: 'none' }));
  other.exec('alter table away rename to audit');
  other.close();
  await registry.reload();
  assert.equal(registry.byId(repoId)!.enforcement, 'restricted');
  assert.deepEqual(logged, []);
  await registry.admit([probed], { enforcement: 'none' });
  const opened = changed(repo, 1, 'private restricted', 'private none');
  assert.deepEqual((await recorded(index)).slice(2), [opened]);
  assert.match(logged.splice(0).join(), /no longer enforced/);
  const actor = { ...OPERATOR, account: 'ada' };
  await registry.change(new Set([repoId]), { enforcement: 'restricted' }, { actor });
  await registry.change(new Set([repoId]), { enforcement: 'restricted' }, { actor });
  const closedAgain = changed(repo, 1, 'private none', 'private restricted');
  assert.deepEqual((await recorded(index)).slice(3), [{ ...closedAgain, account: 'ada' }]);
  const [other1, other2] = [makeRepo({ b: 'plum\n' }), makeRepo({ c: 'plum\n' })];
  await registry.admit([await probeSource(other1), await probeSource(other2)], {});
  assert.match(logged.splice(0).join(), /only to owners/);
  const both = changed(other1, 2, null, 'unknown restricted');
  assert.deepEqual((await recorded(index)).slice(4), [
    {
      ...both,
      repoIds: [2, 3],
      repos: [other1, other2].map((one) => `local/${path.basename(one)}`),
      repoCount: 2,
    },
  ]);
  await registry.change(new Set([1, 2, 3]), { visibility: 'public' }, {});
  assert.equal((await recorded(index)).length, 7, 'one for each set of rules that it was before');
  await index.store.close();
});

test('a new public repo is audited where grants without repos exist', async () => {
  const index = await openIndex(temporaryFolder(), undefined, log);
  const { registry, store } = index;
  const { id } = await newUser(store);
  await store.grants.add(id, [7]);
  const repo = makeRepo({ a: 'plum\n' });
  await registry.admit([await probeSource(repo)], { enforcement: 'none' });
  assert.deepEqual(await recorded(index), [changed(repo, 8, null, 'unknown none')]);
  assert.match(logged.splice(0).join(), /no longer enforced/);
  await store.close();
});

test('a change of many repos names each of them, a hundred in a record', () => {
  const before = {
    repos: [],
    removed: [],
    nextRepoId: 1,
    connections: [],
    links: [],
    nextConnectionId: 1,
  };
  const repos = Array.from({ length: 250 }, (_, index): StoredRepo => {
    const repoId = index + 1;
    return { repoId, name: `r${repoId}`, visibility: 'private', enforcement: 'all' };
  });
  const { records } = ruleChanges(log)({}, before, repos, []);
  const repoLists = records.map(({ metadata }) => metadata?.['repos'] as string[]);
  assert.deepEqual(
    repoLists.map(({ length }) => length),
    [100, 100, 50],
  );
  assert.deepEqual(
    repoLists.flat(),
    repos.map(({ name }) => name),
  );
  assert.deepEqual(records[2]!.metadata?.['repoCount'], 50);
});
