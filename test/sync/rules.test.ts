// Rules of repos that the store holds and that cannot be read: nothing is shown by what they were, and they are read as
// soon as that can be done.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import Libsql from 'libsql';
import { indexerOf, type Instance } from '../../daemon/instance.ts';
import { eventually } from '../http/harness.ts';
import { openIndexOf } from './index-of.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

/** Rules of the repos that searches see. */
function shown({ parts }: Instance): (string | undefined)[] {
  return parts.snapshots.current.repos.map(({ enforcement }) => enforcement);
}

test('rules that cannot be read: for owners alone, until they can', async () => {
  const dataDir = temporaryFolder();
  const index = await openIndexOf(dataDir, { findsSymbols: false });
  const { instance, warnings } = index;
  const indexer = indexerOf(instance);
  await indexer.sources.add([makeRepo({ a: 'plum\n' })], undefined);
  instance.served.publish();
  assert.deepEqual(shown(instance), [undefined]);
  const other = new Libsql(path.join(dataDir, 'store.db'));
  other.exec(`update repos set enforcement = 'restricted'; alter table repos rename to away`);
  await indexer.rules.obey();
  assert.deepEqual(shown(instance), ['all']);
  assert.match(warnings.join('\n'), /could not be read again/);
  other.exec('alter table away rename to repos');
  await eventually(() => shown(instance)[0] === 'restricted');
  other.close();
  await index.close();
});
