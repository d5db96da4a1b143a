// The text of an explanation: a golden one, and what it says when shares and totals differ.

import assert from 'node:assert/strict';
import test from 'node:test';
import { findDifferences, formatExplanation } from '../../daemon/cli/explain-output.ts';
import { explanation } from './responses.ts';

const GOLDEN = `query:  and(text:"pear", lang:"go"), with rev:"HEAD" implied, as it names no revision
verify: 4,096 bytes estimated, 1 byte read
answer: incomplete: match_limit

plan
  AND
    text:"pear"  1 block, 2 docs
      AND
        "pea"
        "ear"
    regex:/x+/   3,000 docs
      SCAN
    lang:"Go"    1 doc

expressions
  regex:/x+/     DFA                          requires ALL    begins in "x"
  regex:/a.foo/  inner needles by line + DFA  requires "foo"  needles "foo"

best         repository  score   symbol  name  text   near   tier  path  leaves
src/pear.go  r/a         20,134  16,400     0  3,334  9,000   0.7     0     400
x.go         r/a            400

shard  repository  class           docs   totalMatchCount  filesSkipped  filesConsidered  reason
aa     r/a         scanned         1,000                2             0                2  candidate docs: 2
bb     r/a         skipped_filter  1,000                0             0                0  trigram "pea" absent
cc     r/a         skipped         1,000                0         1,000                0  limit reached
sum                                3,000                2         1,000                2

shardsEligible        3
shardsOutOfScope      1
docsInScope           3000
bytesInScope          90000
actualMatchCount      0
totalMatchCount       2
duration              0 (0.000 ms)
fileCount             0
filesSkipped          0
contentBytesLoaded    0
indexBytesLoaded      0
crashes               0
shardFilesConsidered  0
filesConsidered       0
filesLoaded           0
shardsScanned         0
shardsSkipped         0
shardsSkippedFilter   0
ngramMatches          0
ngramLookups          0
wait                  0 (0.000 ms)
matchTreeConstruction 0 (0.000 ms)
matchTreeSearch       0 (0.000 ms)
regexpsConsidered     0

check: the shards add up to the totals
`;

void test('an explanation as text', () => {
  assert.equal(formatExplanation(explanation()), GOLDEN);
});

void test('shares that do not add up are said', () => {
  const one = explanation();
  assert.deepEqual(findDifferences(one), []);
  const wrong = explanation({ stats: { ...one.stats, filesSkipped: 1001 } });
  const difference = 'filesSkipped: the shards add up to 1,000, the search has 1,001';
  assert.deepEqual(findDifferences(wrong), [difference]);
  assert.ok(
    formatExplanation(wrong).endsWith(`\ncheck: FAILED, please report this\n  ${difference}\n`),
  );
});

void test('control characters of queries and names are escaped, an exhaustive answer is said', () => {
  const one = explanation();
  const text = formatExplanation({
    ...one,
    query: { canonical: 'text:"\u001b[31m"' },
    isSearchExhaustive: true,
  });
  assert.match(
    text,
    /^query: {2}text:"\\x1b\[31m"\nverify: 4,096 bytes estimated, 1 byte read\nanswer: exhaustive\n/,
  );
});
