// An index must never lose a match: real files are indexed by the real builder, and expressions made of their text
// (bench/expressions.ts) must find what the core finds in every file from start to end, without grams, needles or
// blocks. TRAWL_FUZZ_RUNS: number of expressions; TRAWL_TEST_SEED.
// tier: ci (long)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROGRAM_STATES_MAX } from '../../core/shared/program.ts';
import { generalize } from '../../bench/expressions.ts';
import { type Random, seededRandom } from '../../bench/samples.ts';
import { encodeProgram } from '../../daemon/engine/regex/program.ts';
import { simplify } from '../../daemon/engine/regex/simplify.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { compileTree } from '../../daemon/engine/regex/thompson.ts';
import { canBeEmpty, spansLines } from '../../daemon/engine/regex/traits.ts';
import { Engine as RegexEngine } from '../core/regex-harness.ts';
import { buildFromDisk, Engine, REPO, type SearchAnswer } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';

const ROOT = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const FOLDERS = ['commander', 'picomatch', 'cli-progress', 'string-width', 'nano-spawn', 'pino'];
const SIZE_MAX = 700_000;
const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 200);
/** An answer with more ranges is compared by its counts alone. */
const RANGES_MAX = 500;
const SIMULATED_SIZE_MAX = 20_000;
/** Bytes between texts in memory. */
const MARGIN = 128;

interface SourceFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Real files; some of them again with CRLF, with bad bytes, on one long line, and without a last newline. */
function sourceFiles(): SourceFile[] {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:js|cjs|ts|md|json)$/.test(name))
      .map((name) => path.join(folder, name)),
  ).sort();
  const files: SourceFile[] = [];
  let size = 0;
  for (const name of names) {
    const bytes = readFileSync(path.join(ROOT, name));
    if (bytes.length > 0 && size + bytes.length <= SIZE_MAX) files.push({ path: name, bytes });
    if (bytes.length > 0 && size + bytes.length <= SIZE_MAX) size += bytes.length;
  }
  const odd = files.slice(0, 12).flatMap(({ path: name, bytes }) => {
    const text = bytes.toString('latin1').slice(0, 12_000);
    const variants = {
      crlf: text.replaceAll('\n', '\r\n'),
      bad: text.replaceAll(/[ek]/g, (char) => (char === 'e' ? '\xe9' : '\xe2\x84\xaa')),
      long: text.replaceAll('\n', ' '),
      open: text.trimEnd(),
    };
    return Object.entries(variants).map(([kind, content]) => ({
      path: `${kind}/${name}`,
      bytes: Buffer.from(content, 'latin1'),
    }));
  });
  return [...files, ...odd];
}

/** A piece of a file, mostly of one line. */
function snippet({ bytes }: SourceFile, random: Random): string {
  const at = Math.floor(random() * bytes.length);
  const size = 2 + Math.floor(random() * (random() < 0.3 ? 60 : 16));
  const text = bytes.subarray(at, at + size).toString();
  return text.replaceAll('\ufffd', '') || 'x';
}

/** The expression without anything that tells where its matches may be. */
function bareProgram(pattern: string, isFolded: boolean): Uint8Array {
  const tree = simplify(parseRegex(pattern, { isFolded }));
  return encodeProgram({
    forward: compileTree(tree, false, PROGRAM_STATES_MAX, Infinity),
    reverse: compileTree(tree, true, PROGRAM_STATES_MAX, Infinity),
    needles: { kind: 'none', texts: [], isFolded: false },
    spansLines: spansLines(tree),
    canBeEmpty: canBeEmpty(tree),
  });
}

type Found = Map<string, readonly (readonly [number, number])[]>;

function rangesOf(answer: SearchAnswer): Found {
  return new Map(
    answer.files.map(({ fileName, chunks }) => {
      const ranges = chunks.flatMap(({ matchRanges }) =>
        matchRanges.map(({ start, end }) => [start.byteOffset, end.byteOffset] as const),
      );
      return [fileName.text, ranges.sort((a, b) => a[0] - b[0])];
    }),
  );
}

void test(`indexed content is found, ${RUNS} expressions, seed ${SEED}`, async () => {
  const files = sourceFiles();
  await using engine = await Engine.open();
  const docs = files.map((file) => ({ ...file, language: '' }));
  engine.publish(await buildFromDisk(engine.module, engine.folder, REPO, docs), [REPO]);
  const reader = await RegexEngine.make('release', 8 << 20);
  let shift = 0;
  const locations = new Map(
    files.map((file) => {
      const text = reader.locationText(file.bytes, shift);
      shift += file.bytes.length + MARGIN;
      return [file, text];
    }),
  );
  const random = seededRandom(SEED);
  let [rangeCount, skippedBlocks, simulated] = [0, 0, 0];
  for (let runCount = 0; runCount < RUNS; runCount++) {
    const source = files[Math.floor(random() * files.length)]!;
    const pattern = generalize(snippet(source, random), random);
    const isCaseSensitive = random() < 0.5;
    const answer = await engine.search(`"${pattern}"`, {
      matches: RANGES_MAX,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: isCaseSensitive,
    });
    const label = `${pattern} ${isCaseSensitive ? 'exact' : 'folded'}`;
    assert.ok(reader.compile(bareProgram(pattern, !isCaseSensitive)), label);
    const found = rangesOf(answer);
    let total = 0;
    for (const file of files) {
      reader.useText(locations.get(file)!);
      const expected = answer.isSearchExhaustive ? reader.find() : [];
      total += answer.isSearchExhaustive ? expected.length : reader.count();
      if (answer.isSearchExhaustive)
        assert.deepEqual(found.get(file.path) ?? [], expected, `${label} in ${file.path}`);
      if (file === source && file.bytes.length < SIMULATED_SIZE_MAX && spansAll(pattern)) {
        assert.deepEqual(reader.simulate(), reader.find(), `${label} simulated in ${file.path}`);
        simulated++;
      }
    }
    if (answer.isSearchExhaustive) assert.equal(answer.stats['totalMatchCount'], total, label);
    else assert.ok(total > RANGES_MAX, label);
    rangeCount += total;
    if (answer.stats['ngramMatches']! > 0) skippedBlocks++;
  }
  assert.ok(rangeCount > RUNS && skippedBlocks > RUNS / 4, `${rangeCount}, ${skippedBlocks}`);
  assert.ok(simulated > RUNS / 20, `${simulated} were simulated`);
});

/** The simulation alone takes expressions that span lines. */
function spansAll(pattern: string): boolean {
  return spansLines(simplify(parseRegex(pattern)));
}
