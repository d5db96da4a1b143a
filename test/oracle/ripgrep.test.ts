// Real source text searched for literals and expressions made from it, by the daemon and by ripgrep: same files, same
// byte offsets, in both case modes. A plain scan shows that the comparison can fail: no difference between two exact
// searches, and every planted one is found.
// tier: ci (ripgrep)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { isUtf8 } from 'node:buffer';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  search,
  createClient,
  listDocs,
  rangesByPath,
  searchAllThrough,
  type SearchClient,
} from '../../bench/client.ts';
import { compareMatches, describeReport, runDifferential } from '../../bench/differential.ts';
import { generalize } from '../../bench/expressions.ts';
import { ripgrepAll, ripgrepFiles, type MatchMap } from '../../bench/ripgrep.ts';
import { drawSamples, type Random, seededRandom } from '../../bench/samples.ts';
import { readSettings } from '../../daemon/base/config/settings.ts';
import { serveIndexed } from '../e2e/daemon.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { SEED } from '../seed.ts';

const ROOT = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const SCOPES = ['commander', 'picomatch', 'cli-progress', 'string-width'];
/** What the daemon indexes: packages of plain, generated and non-ASCII text. */
const DAEMON_SCOPES = [...SCOPES, 'msgpackr', 'fast-check'];
const SAMPLE_COUNT = 20;
const EXPRESSION_COUNT = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 20);
const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs the Debian package ripgrep';

void test('the daemon finds what ripgrep finds', { skip, timeout: 300_000 }, async () => {
  const root = temporaryFolder();
  for (const scope of DAEMON_SCOPES)
    cpSync(path.join(ROOT, scope), path.join(root, scope), { recursive: true, dereference: true });
  const served = await serveIndexed(temporaryFolder(), [root]);
  const client = createClient(served.url, 4);
  const { paths, skipped } = await listDocs(client);
  const missing = (await ripgrepFiles(root)).filter((file) => !paths.has(file));
  assert.deepEqual(missing, []);
  const report = await runDifferential({
    root,
    sampleCount: SAMPLE_COUNT,
    seed: SEED,
    rangeCountMax: 100_000,
    fileSizeMax: readSettings().maxFileSize,
    excludedPaths: new Set(skipped.keys()),
    searchAll: searchAllThrough(client),
  });
  const expressions = await compareExpressions(client, root, new Set(skipped.keys()));
  client.close();
  await served.process.stop();
  assert.ok(expressions.comparedCount > EXPRESSION_COUNT / 2, JSON.stringify(expressions));
  assert.ok(expressions.rangeCount > EXPRESSION_COUNT, JSON.stringify(expressions));
  assert.equal(report.differences.length, 0, describeReport(report));
  assert.ok(report.comparedCount >= 1.7 * SAMPLE_COUNT, describeReport(report));
  assert.ok(report.absentCount > 0 && report.rangeCount > 5000, describeReport(report));
});

void test('only a line feed ends a line of what ripgrep answers', { skip }, async () => {
  const root = temporaryFolder();
  writeFileSync(path.join(root, 'a.txt'), 'plum \u2028 \u2029 \u0085 \r plum\nplum\n');
  const found = await ripgrepAll(root, 'plum', { isCaseSensitive: true });
  assert.deepEqual(
    found,
    new Map([
      [
        'a.txt',
        [
          [0, 4],
          [18, 22],
          [23, 27],
        ],
      ],
    ]),
  );
});

/** An expression that means the same to both, and that only one of them could misread. */
function drawExpression(literal: string, random: Random): string {
  for (;;) {
    const drawn = generalize(literal, random);
    // Without lines `^` and `$` are the ends of what ripgrep happens to look at.
    if (drawn.startsWith('(?-m)')) continue;
    // Behind an empty match, to ripgrep 13, a text begins, and perhaps a word.
    if (!drawn.includes(String.raw`\b`) || !mayBeEmpty(drawn)) return drawn;
  }
}

/** Whether an expression may match nothing, its borders of words aside. */
function mayBeEmpty(expression: string): boolean {
  const bare = expression
    // Of those JavaScript takes some alone.
    .replaceAll(/\\[^\w\s]/g, 'x')
    .replaceAll(/^\(\?[-\w]+\)|\\b/g, '')
    .replaceAll(/\(\?[-\w]+:/g, '(?:')
    .replaceAll(/\\x\{\w+\}/g, 'x');
  return new RegExp(`^(?:${bare})$`, 'u').test('');
}

async function compareExpressions(
  client: SearchClient,
  root: string,
  skipped: ReadonlySet<string>,
): Promise<{ comparedCount: number; rangeCount: number }> {
  const random = seededRandom(SEED);
  // To ripgrep a bad byte is no character.
  const files = (await ripgrepFiles(root)).filter(
    (file) => !skipped.has(file) && isUtf8(readFileSync(path.join(root, file))),
  );
  const isCompared = new Set(files);
  let [comparedCount, rangeCount] = [0, 0];
  for (const { literal } of drawSamples(root, files.sort(), EXPRESSION_COUNT, random)) {
    const pattern = drawExpression(literal, random);
    const isCaseSensitive = random() < 0.5;
    const body = { query: `"${pattern}"`, isRegexEnabled: true, matches: 20_000 };
    const [expected, answer] = await Promise.all([
      ripgrepAll(root, pattern, { isCaseSensitive, isRegex: true, rangeCountMax: 20_000 }),
      search(client, JSON.stringify({ ...body, isCaseSensitivityEnabled: isCaseSensitive })),
    ]);
    if (expected === undefined || !answer.isSearchExhaustive) continue;
    const only = (found: MatchMap): MatchMap =>
      new Map([...found].filter(([file]) => isCompared.has(file)));
    const differences = compareMatches(only(expected), only(rangesByPath(answer)));
    assert.deepEqual(differences, [], `${pattern}, exact: ${isCaseSensitive}`);
    comparedCount++;
    rangeCount += answer.stats['actualMatchCount'];
  }
  return { comparedCount, rangeCount };
}
