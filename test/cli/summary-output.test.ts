// The text of what an index holds: a golden one, and what is said of a single shard.

import assert from 'node:assert/strict';
import test from 'node:test';
import { formatSummary, shardFields } from '../../daemon/cli/summary-output.ts';
import { surveyed } from './responses.ts';

const GOLDEN = `index:        /data
repositories: 6
shards:       4, 1 shared, 1 out of service
live docs:    36, and 4 in no revision (about 400 bytes of content)
content:      4,000 bytes
next merge:   none
levels:       1 below 1,000, 2 below 16,000 bytes of live content; 16 of a level and kind are merged, or as many as fill a shard

shard  bytes  content  live  dead  level  state           repositories
aa     1,500    1,000     6     4      1                  r/a, r/b, r/c and 2 more
bb     1,500    1,000    10     0  -                      r/a
cc     1,500    1,000    10     0      1  out of service  r/a
dd     1,500    1,000  ?     ?     -                      r/\\x1bf
`;

void test('an index as text', () => {
  assert.equal(formatSummary(surveyed()), GOLDEN);
});

const NEXT = { shardIds: ['aa'], docCount: 6, contentSize: 600, droppedCount: 4 };

void test('the next merge, and the shards in it', () => {
  const [aa, ...others] = surveyed().shards;
  const shards = [{ ...aa!, isMergedNext: true }, ...others];
  const text = formatSummary(surveyed({ nextMerge: NEXT, shards }));
  assert.match(
    text,
    /^next merge: +1 shard into one of 6 docs, about 600 bytes of content; 4 docs left out$/m,
  );
  assert.match(text, /^aa .* merged next +r\/a/m);
});

void test('a shard of an index', () => {
  const { shards } = surveyed();
  const fieldsOf = (index: number, nextMerge: typeof NEXT | null, isMergedNext = false) =>
    Object.fromEntries(shardFields({ ...shards[index]!, nextMerge, isMergedNext }));
  assert.deepEqual(fieldsOf(0, NEXT, true), {
    'held by': 'r/a, r/b, r/c and 2 more',
    'live docs': '6, and 4 in no revision (about 400 bytes of content)',
    level: '1',
    'next merge': '1 shard into one of 6 docs, about 600 bytes of content; 4 docs left out',
  });
  assert.deepEqual(fieldsOf(2, NEXT), {
    'held by': 'r/a',
    'live docs': '10',
    level: '1',
    'next merge': 'without it',
    'out of service': 'page 1 is damaged',
  });
  const unknown = fieldsOf(3, null);
  assert.equal(unknown['live docs'], 'unknown: a revision file is damaged');
  assert.equal(unknown['next merge'], 'none');
});
