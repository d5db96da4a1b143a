// Messages of caught values.

import assert from 'node:assert/strict';
import test from 'node:test';
import { messageOf } from '../../daemon/base/caught.ts';

void test('an error without a message has those of its errors: as a host with two addresses', () => {
  const errors = ['::1:1', '127.0.0.1:1'].map((at) => new Error(`connect ECONNREFUSED ${at}`));
  const both = 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1';
  assert.equal(messageOf(new AggregateError(errors)), both);
  assert.equal(messageOf(new AggregateError(errors, 'none connected')), 'none connected');
});
