// Fuzzing targets. A target makes random cases and throws for a wrong one: a crash, a trap, two answers that differ.
// Driven for a short time by fuzz.test.ts, for any time by main.ts.

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { QueryError } from '../../daemon/engine/regex/query-error.ts';
import { reduceToLiterals } from '../../daemon/engine/regex/literals.ts';
import { simplify } from '../../daemon/engine/regex/simplify.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { parseQuery } from '../../daemon/engine/query/parser.ts';
import { UnknownContextError } from '../../daemon/engine/query/repos.ts';
import { decodeText } from '../core/oracle.ts';
import { Engine as RegexEngine } from '../core/regex-harness.ts';
import { repoRecord } from '../engine/host/harness.ts';
import { checkMatch } from '../engine/regex/check-match.ts';
import { hasEmptyRounds, rangesInJavaScript } from '../engine/regex/javascript.ts';
import { patternArbitrary } from '../engine/regex/patterns.ts';
import { matchesAnywhere, matchesOf, readTwin, startOf } from '../engine/regex/twin.ts';
import { garbageArbitrary, validPatternArbitrary, textArbitrary } from './patterns.ts';
import { compileRegex, encodePlan, planQuery } from '../engine/query/at-once.ts';

export interface Target {
  readonly property: fc.IAsyncProperty<unknown>;
  /** What was done beyond the cases. */
  readonly counts: Readonly<Record<string, number>>;
}

type Counts<Name extends string> = Record<Name, number>;

/** Runs `work`; a QueryError inside `text` is an answer too. Undefined: there was one. */
function orRefused<Value>(text: string, work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnknownContextError) return undefined;
    if (!(error instanceof QueryError)) throw error;
    const size = Array.from(text).length;
    assert.ok(error.position >= 0 && error.position <= size, `position of ${error.message}`);
    assert.ok(Number.isInteger(error.position) && error.reason !== '', error.message);
    return undefined;
  }
}

/** Any text is a program that the core takes, or refused with a position; as a pattern, and as a query. */
export async function parserTarget(): Promise<Target> {
  const engine = await RegexEngine.make('release');
  const repos = [repoRecord(1, 'host/alpha'), repoRecord(2, 'Other')];
  const counts: Counts<'programs' | 'plans'> = { programs: 0, plans: 0 };
  const compile = (pattern: string, isFolded: boolean): void => {
    const tree = parseRegex(pattern, { isFolded });
    for (const subject of ['name', 'content'] as const) reduceToLiterals(tree, subject);
    const { program } = compileRegex(tree);
    counts.programs++;
    assert.ok(engine.compile(program, [4096, 4096]), 'refused by the core');
  };
  const plan = (text: string, isRegexEnabled: boolean, isCaseSensitive: boolean): void => {
    const query = parseQuery(text, { isRegexEnabled, isFolded: !isCaseSensitive });
    const testNames = (_: Uint8Array, names: readonly string[]): boolean[] => names.map(() => true);
    encodePlan(
      planQuery(query, {
        repos: () => repos,
        needsDocSets: repos.some(({ revisions }) => revisions !== undefined),
        testNames,
      }),
      isCaseSensitive,
      [],
    );
    counts.plans++;
  };
  const property = fc.asyncProperty(
    garbageArbitrary,
    fc.boolean(),
    fc.boolean(),
    async (text, a, b) => {
      orRefused(text, () => compile(text, a));
      orRefused(text, () => plan(text, a, b));
      await Promise.resolve();
    },
  );
  return { property, counts };
}

/** The text with U+FFFD for bad bytes, and the offset in the text of each byte of that and of its end. */
function rewrite(text: Uint8Array): { valid: Uint8Array; offsets: number[] } {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const { point, size } of decodeText(text)) {
    const bytes = Buffer.from(String.fromCodePoint(point));
    parts.push(bytes);
    for (let i = 0; i < bytes.length; i++) offsets.push(at);
    at += size;
  }
  return { valid: Uint8Array.from(Buffer.concat(parts)), offsets: [...offsets, at] };
}

/** More states are too slow for the twin. */
const TWIN_STATES_MAX = 1500;

/** What DFA, simulation and the slow twin find is the same, with caches of any size, and as promised. */
export async function engineTarget(): Promise<Target> {
  const engines = {
    debug: await RegexEngine.make('debug'),
    release: await RegexEngine.make('release'),
  };
  const counts: Counts<'compared' | 'matches' | 'clears' | 'simulations' | 'badTexts'> = {
    compared: 0,
    matches: 0,
    clears: 0,
    simulations: 0,
    badTexts: 0,
  };
  const caches = fc.constantFrom(undefined, [16384, 8192], [2048, 2048], [700, 500], [64, 64]);
  const property = fc.asyncProperty(
    validPatternArbitrary,
    fc.boolean(),
    fc.array(textArbitrary, { minLength: 1, maxLength: 4 }),
    caches,
    fc.constantFrom('release', 'release', 'debug'),
    async (pattern, isFolded, texts, sizes, build) => {
      await Promise.resolve();
      const compiled = orRefused(pattern, () => compileRegex(parseRegex(pattern, { isFolded })));
      if (compiled === undefined || compiled.stateCount > TWIN_STATES_MAX) return;
      const engine = engines[build];
      const twin = readTwin(compiled.program);
      assert.ok(engine.compile(compiled.program, sizes));
      for (const text of texts) {
        const { valid, offsets } = rewrite(text);
        const found = matchesOf(twin, valid);
        const expected = found.map(({ start, end }) => [offsets[start], offsets[end]]);
        engine.setText(text, text.length % 3);
        assert.deepEqual(engine.find(), expected, 'find');
        assert.equal(engine.count(), expected.length, 'count');
        assert.deepEqual(engine.simulate(), expected, 'simulate');
        assert.equal(engine.test(), matchesAnywhere(twin, valid), 'test');
        for (const { start, end, from } of found) {
          assert.equal(startOf(twin, valid, from, end), start, 'backwards');
          checkMatch(compiled, twin, Buffer.from(valid).toString('utf8', start, end), 'promise');
        }
        counts.compared++;
        counts.matches += found.length;
        if (valid.length !== text.length) counts.badTexts++;
      }
      counts.clears += engine.clearCount;
      counts.simulations += engine.simulationCount;
    },
  );
  return { property, counts };
}

/** Code units: JavaScript tracks back, and might not come to an end on longer texts. */
const BACKTRACKED_SIZE = 16;

/** What the core finds is what JavaScript finds, where both mean the same. */
export async function javascriptTarget(): Promise<Target> {
  const engine = await RegexEngine.make('release');
  const counts: Counts<'compared' | 'matches'> = { compared: 0, matches: 0 };
  const flags = fc.constantFrom('', 'i', 's', 'is');
  const texts = fc.array(textArbitrary, { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(
    patternArbitrary,
    flags,
    texts,
    async (pattern, flag, samples) => {
      await Promise.resolve();
      // Why: in JavaScript a negated property and its opposite overlap without regard to case.
      if (flag.includes('i') && pattern.includes(String.raw`\P`)) return;
      const whole = flag.includes('s') ? `(?s)${pattern}` : pattern;
      const tree = parseRegex(whole, { isFolded: flag.includes('i') });
      if (hasEmptyRounds(simplify(tree))) return;
      const expression = new RegExp(pattern, `gmu${flag}`);
      // There the dot takes no other ends of lines, there are more spaces, and words are longer without regard to case.
      const isSame = (text: string): boolean =>
        Array.from(text).every((one) => /[\t\n\f ]/.test(one) || !/[\s\u017f\u212a]/u.test(one));
      assert.ok(engine.compile(compileRegex(tree).program));
      for (const sample of samples) {
        const text = Buffer.from(sample).toString().slice(0, BACKTRACKED_SIZE);
        if (!isSame(text)) continue;
        engine.setText(Buffer.from(text));
        const found = engine.find().map(([start, end]) => ({ start, end }));
        assert.deepEqual(found, rangesInJavaScript(expression, text));
        counts.compared++;
        counts.matches += found.length;
      }
    },
  );
  return { property, counts };
}

/** A damaged program is refused or harmless: no trap, and nothing is found outside the text. */
export async function programTarget(): Promise<Target> {
  const engines = {
    debug: await RegexEngine.make('debug'),
    release: await RegexEngine.make('release'),
  };
  const counts: Counts<'accepted' | 'refused'> = { accepted: 0, refused: 0 };
  const value = fc.oneof(fc.nat(12), fc.nat(300), fc.nat(0x7fff), fc.integer());
  // Most changes replace a word of the program behind the header, which may be valid.
  const change = fc.record({
    at: fc.nat(),
    isHead: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    copyOf: fc.option(fc.nat(), { freq: 4 }),
    value,
  });
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  const builds = fc.constantFrom('debug' as const, 'release' as const);
  const property = fc.asyncProperty(
    validPatternArbitrary,
    changes,
    textArbitrary,
    builds,
    async (pattern, edits, text, build) => {
      await Promise.resolve();
      const compiled = orRefused(pattern, () => compileRegex(parseRegex(pattern)));
      if (compiled === undefined) return;
      const program = compiled.program.slice();
      const words = new DataView(program.buffer);
      const wordCount = program.length / 4;
      for (const { at, isHead, copyOf, value } of edits) {
        const word = copyOf === null ? value : words.getInt32((copyOf % wordCount) * 4, true);
        words.setInt32((at % (isHead ? 12 : wordCount)) * 4, word, true);
      }
      const engine = engines[build];
      if (!engine.compile(program, [2048, 2048])) {
        counts.refused++;
        return;
      }
      counts.accepted++;
      engine.setText(text);
      for (const [start, end] of [...engine.find(), ...engine.find(1, text.length >> 1)]) {
        assert.ok(start >= 0 && start < end && end <= text.length, `${start} to ${end}`);
      }
      engine.count();
      engine.test();
    },
  );
  return { property, counts };
}

export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  parser: parserTarget,
  engine: engineTarget,
  javascript: javascriptTarget,
  program: programTarget,
};
