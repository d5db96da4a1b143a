// Chooses what the scanner searches for, so that the automaton need not read the whole text: literals that begin every match,
// or of which every match contains one, else a run of bytes (runs.ts). Needles only locate; the automaton decides matches.

import type { Condition } from './condition.ts';
import { prefixRun, type Run } from './runs.ts';
import type { Automaton } from './automaton.ts';
import type { SimpleTree } from './simple-tree.ts';
import type { Steps } from '../../base/steps.ts';
import { conditionOf, fewest, requiredTextsOf } from './required-texts.ts';

export interface Needles {
  readonly kind: 'none' | 'prefix' | 'inner' | 'run';
  /** At most 64; `inner` needles contain no newline. */
  readonly texts: readonly string[];
  /** Texts are folded and match any case. */
  readonly isFolded: boolean;
  readonly run?: Run;
}

/** Bytes of UTF-8. */
const NEEDLE_SIZE_MIN = 2;

/** Needles with their joint rarity in bits: one of them occurs at 2^-rarity of all positions. */
interface Choice {
  readonly needles: Needles;
  readonly rarity: number;
}

export const NO_NEEDLES: Needles = { kind: 'none', texts: [], isFolded: false };
const NO_CHOICE: Choice = { needles: NO_NEEDLES, rarity: -Infinity };

/** The best needles for the non-empty matches of `tree`. @param isBrief  only case-insensitive ones, in half the time */
export function* chooseNeedles(
  tree: SimpleTree,
  spansLines: boolean,
  forward: Automaton,
  isBrief: boolean,
): Steps<Needles> {
  const exact = isBrief ? { prefix: NO_CHOICE, inner: NO_CHOICE } : choicesOf(tree, false);
  yield;
  const folded = choicesOf(tree, true);
  yield;
  const prefix = rarest([exact.prefix, folded.prefix]);
  const inner = rarest([exact.inner, folded.inner]);
  // An inner literal must be two bits rarer to pay for finding the start backwards.
  const isInnerBetter = !spansLines && inner.rarity > prefix.rarity + 2;
  const { needles } = prefix.needles.kind === 'none' || isInnerBetter ? inner : prefix;
  if (needles.kind !== 'none') return needles;
  const run = prefixRun(forward);
  return run === undefined ? needles : { kind: 'run', texts: [], isFolded: false, run };
}

function choicesOf(tree: SimpleTree, isFolded: boolean): { prefix: Choice; inner: Choice } {
  const options = { isFolded, literalMin: NEEDLE_SIZE_MIN };
  const required = requiredTextsOf(tree, options);
  const inner = required.texts && bestOf(conditionOf(required.texts, options), isFolded);
  return {
    prefix: choiceOf('prefix', fewest(required.texts?.prefix ?? [], 'start'), isFolded),
    inner: choiceOf('inner', inner ?? [], isFolded),
  };
}

function choiceOf(kind: 'prefix' | 'inner', texts: readonly string[], isFolded: boolean): Choice {
  const isUsable = texts.every((text) => Buffer.byteLength(text) >= NEEDLE_SIZE_MIN);
  if (texts.length === 0 || texts.length > 64 || !isUsable) return NO_CHOICE;
  return { needles: { kind, texts, isFolded }, rarity: rarityOf(texts, isFolded) };
}

function rarest(choices: readonly Choice[]): Choice {
  return choices.reduce((best, choice) => (choice.rarity > best.rarity ? choice : best), NO_CHOICE);
}

/** The rarest literals such that every text that satisfies `condition` contains one. */
function bestOf(condition: Condition, isFolded: boolean): readonly string[] | undefined {
  switch (condition.kind) {
    case 'literal':
      return [condition.text];
    case 'or': {
      const parts = condition.children.map((child) => bestOf(child, isFolded));
      const present = parts.filter((part) => part !== undefined);
      return present.length < parts.length ? undefined : [...new Set(present.flat())];
    }
    case 'and': {
      const parts = condition.children.map((child) => bestOf(child, isFolded) ?? []);
      return rarest(parts.map((part) => choiceOf('inner', part, isFolded))).needles.texts;
    }
    default:
      return undefined;
  }
}

function rarityOf(texts: readonly string[], isFolded: boolean): number {
  const share = texts.reduce((sum, text) => sum + 2 ** -bitsOf(text), 0);
  // Guess: a case-insensitive search costs two bits.
  return -Math.log2(share) - (isFolded ? 2 : 0);
}

/** Guess: information of the characters of source code in bits; common words have their own figure (WORDS). */
function bitsOf(text: string): number {
  let bits = 0;
  const rest = text.replace(COMMON_WORD, (word) => {
    bits += WORD_BITS.get(word) ?? 0;
    return '';
  });
  for (const character of rest) bits += bitsOfCharacter(character);
  // Rarer is no better.
  return Math.min(bits, 60);
}

function bitsOfCharacter(character: string): number {
  if (/[ \t]/.test(character)) return 2;
  if (/[etaoinsrlcd]/.test(character)) return 3.5;
  if (/[a-z0-9_]/.test(character)) return 4.5;
  return character < '\x80' ? 5 : 8;
}

/**
 * The commonest words of source code that their letters would make look rarer: each occurs at 2^-bits of all positions. A
 * wrong figure costs time, never a match.
 * Measured: 2026-11-21: names and their parts in 65 MB of C and 28 MB of TypeScript and JavaScript, the larger share.
 */
const WORDS: readonly (readonly [number, string])[] = [
  [8.5, 'struct'],
  [9.1, 'define'],
  [9.6, 'return'],
  [10, 'static'],
  [10.4, 'function'],
  [10.6, 'type void'],
  [10.7, 'const device'],
  [10.9, 'info'],
  [11, 'unsigned'],
  [11.1, 'string include size'],
  [11.2, 'export'],
  [11.3, 'value'],
  [11.4, 'state lock'],
  [11.5, 'case readonly flags'],
  [11.6, 'init name addr'],
  [11.7, 'interface port else NULL'],
  [11.8, 'mode number read write list'],
  [11.9, 'MASK goto break'],
  [12, 'status'],
  [12.1, 'from long null length offset'],
  [12.2, 'node BASE sizeof char mask SIZE base'],
  [12.3, 'driver'],
  [12.4, 'entry error declare count property'],
  [12.5, 'STATUS extends'],
  [12.6, 'free start buffer table config queue page enable'],
  [12.7, 'register TYPE boolean bool SHIFT object'],
  [12.8, 'index DATA options default with event'],
  [12.9, 'request mutex file CONFIG that host'],
  [13, 'true enum inline reset'],
  [13.1, 'EINVAL method block endif undefined link import'],
  [13.2, 'false channel test parent address'],
  [13.3, 'update switch check client bytes'],
  [13.4, 'platform work next context user alloc'],
];

const WORD_BITS: ReadonlyMap<string, number> = new Map(
  WORDS.flatMap(([bits, words]) => words.split(' ').map((word) => [word, bits] as const)),
);

const COMMON_WORD = new RegExp(
  [...WORD_BITS.keys()].sort((a, b) => b.length - a.length).join('|'),
  'g',
);
