// Listings of paths: chunks give the same records as the whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../bench/samples.ts';
import { RecordSplitter, splitRecords } from '../../daemon/base/paths.ts';

test('listings in parts give the same records', () => {
  const random = seededRandom(7);
  const below = (end: number): number => Math.floor(random() * end);
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: below(12) }, () => {
      const bytes = Buffer.from('aä\u{1F600}b/'.repeat(below(4)));
      if (bytes.length > 0 && below(6) === 0) bytes[below(bytes.length)] = 0xff;
      return Buffer.concat([bytes, Buffer.of(0)]);
    });
    // What has no end is no record.
    const listing = Buffer.concat([...names, Buffer.from(below(2) === 0 ? '' : 'cut')]);
    const splitter = new RecordSplitter();
    const found: [string, Buffer | undefined][] = [];
    for (let start = 0; start < listing.length;) {
      const end = start + 1 + below(20);
      found.push(...splitter.push(listing.subarray(start, end)));
      start = end;
    }
    assert.deepEqual(found, [...splitRecords(listing)]);
  }
});
