// The names of all repos as a few long texts: a literal is found in them much faster than in name after name.

import type { RepoRecord } from '../../repos/records.ts';
import type { Steps } from '../../base/steps.ts';
import { foldText } from '../regex/fold.ts';
import type { LetterCase, LiteralAlternative, LiteralChoice } from '../regex/literals.ts';

/** Bound: one step of a search. */
const NAMES_AT_ONCE = 4096;

type NamedRepo = Pick<RepoRecord, 'repoId' | 'name'>;

export class RepoNames {
  readonly #repos: readonly NamedRepo[];
  /** Of NAMES_AT_ONCE names each, created on first use. */
  readonly #exact: NamesText[] = [];
  readonly #folded: NamesText[] = [];

  constructor(repos: readonly NamedRepo[]) {
    this.#repos = repos;
  }

  get count(): number {
    return this.#repos.length;
  }

  /** The repoIds of the names that match; each step looks at some names. */
  *matching({ alternatives, letterCase }: LiteralChoice): Steps<Set<number>> {
    const repoIds = new Set<number>();
    const texts = letterCase === 'folded' ? this.#folded : this.#exact;
    for (let start = 0; start < this.#repos.length; start += NAMES_AT_ONCE) {
      const text = (texts[start / NAMES_AT_ONCE] ??= this.#textFrom(start, letterCase));
      for (const literal of alternatives)
        for (const index of text.matching(literal)) repoIds.add(this.#repos[start + index]!.repoId);
      yield;
    }
    return repoIds;
  }

  #textFrom(start: number, letterCase: LetterCase): NamesText {
    const some = this.#repos.slice(start, start + NAMES_AT_ONCE);
    return new NamesText(some.map(({ name }) => comparedName(name, letterCase)));
  }
}

export function isInName({ alternatives, letterCase }: LiteralChoice, name: string): boolean {
  const compared = comparedName(name, letterCase);
  return alternatives.some((one) => isLiteralIn(one, compared));
}

function comparedName(name: string, letterCase: LetterCase): string {
  return letterCase === 'folded' ? foldText(name) : name;
}

function isLiteralIn(
  { text, anchoredStart, anchoredEnd }: LiteralAlternative,
  name: string,
): boolean {
  if (anchoredStart && anchoredEnd) return name === text;
  if (anchoredStart) return name.startsWith(text);
  return anchoredEnd ? name.endsWith(text) : name.includes(text);
}

const SEPARATOR = '\n';

/** At least one name. */
class NamesText {
  readonly #names: readonly string[];
  /** Each name between two separators. */
  readonly #text: string;
  readonly #starts: Uint32Array;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#text = `${SEPARATOR}${names.join(SEPARATOR)}${SEPARATOR}`;
    this.#starts = new Uint32Array(names.length);
    let next = SEPARATOR.length;
    for (const [index, name] of names.entries()) {
      this.#starts[index] = next;
      next += name.length + SEPARATOR.length;
    }
  }

  /** Indexes of the names that hold the literal, some of them twice. */
  matching(literal: LiteralAlternative): number[] {
    const start = literal.anchoredStart ? SEPARATOR : '';
    const needle = `${start}${literal.text}${literal.anchoredEnd ? SEPARATOR : ''}`;
    const indexes: number[] = [];
    for (let from = 0; from < this.#text.length;) {
      const found = this.#text.indexOf(needle, from);
      if (found === -1) break;
      from = found + 1;
      const index = this.#indexAt(found + start.length);
      const name = this.#names[index]!;
      // A needle that holds a separator may begin in one name and end in another.
      if (!isLiteralIn(literal, name)) continue;
      indexes.push(index);
      from = Math.max(from, this.#starts[index]! + name.length);
    }
    return indexes;
  }

  /** Of the name at a position of the text, or before it. */
  #indexAt(position: number): number {
    let first = 0;
    let end = this.#starts.length;
    while (end - first > 1) {
      const middle = (first + end) >>> 1;
      if (this.#starts[middle]! <= position) first = middle;
      else end = middle;
    }
    return first;
  }
}
