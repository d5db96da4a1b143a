// The order of files in answers equals the golden file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ORDER_FILE, orderListing } from './golden-order.ts';

test('answers over a small tree are in the agreed order', async () => {
  assert.equal(
    await orderListing(),
    readFileSync(ORDER_FILE, 'utf8'),
    'the order of answers has changed; if that is meant, run `npm run golden` and look at the difference',
  );
});
