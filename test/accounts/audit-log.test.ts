// Audit records that the store cannot take when the daemon stops are in its log, and do not delay the stop.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ORG } from '../../daemon/accounts/audit-log.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import { openControl } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

test('a record that cannot be written before the end is logged', async () => {
  const folder = temporaryFolder();
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  const configuration = readConfiguration({ env: { TRAWL_DATA_DIR: folder } });
  const control = await openControl(configuration, new RepoDirectory(() => []), log);
  const { auditLog } = control.accounts;
  auditLog.note({ id: 'somebody', type: 'user' }, 'user.performed_code_search', ORG);
  await auditLog.flush();
  auditLog.note({ id: 'another', type: 'user' }, 'user.performed_code_search', ORG);
  rmSync(path.join(folder, 'store.db'));
  await control.close();
  const lost = lines.filter((line) => line.includes('an audit record could not be written'));
  assert.equal(lost.length, 1);
  const { level, record } = JSON.parse(lost[0]!);
  const { action, actorId } = record;
  assert.deepEqual([level, action, actorId], ['error', 'user.performed_code_search', 'another']);
});

test('while the store is slow, one attempt waits behind the running one, not each', async () => {
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const configuration = readConfiguration({ env: { TRAWL_DATA_DIR: temporaryFolder() } });
  const control = await openControl(configuration, new RepoDirectory(() => []), log);
  const { auditLog } = control.accounts;
  let attemptCount = 0;
  control.store.audit.append = async () => {
    attemptCount++;
    await setTimeout(20);
    throw new Error('the store does not answer');
  };
  auditLog.note({ id: 'somebody', type: 'user' }, 'user.performed_code_search', ORG);
  await Promise.all(Array.from({ length: 50 }, () => auditLog.flush()));
  assert.ok(attemptCount <= 2, String(attemptCount));
  await control.close();
});
