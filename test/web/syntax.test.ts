// The guide to the syntax of queries has every filter that there is.
// tier: ci (long)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PREFIX_NAMES } from '../../daemon/engine/query/prefixes.ts';

test('the guide shows every prefix by its long name', () => {
  const guide = readFileSync('daemon/web/shell/syntax-dialog.tsx', 'utf8');
  const long = PREFIX_NAMES.filter((name) => name.length > 1);
  assert.deepEqual(
    long.filter((name) => !guide.includes(`${name}:`)),
    [],
  );
});
