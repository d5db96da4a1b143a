// The code points of Unicode properties such as `\p{Greek}`, of the Unicode version of the case folding (property-table.ts).

import { SURROGATES } from './code-points.ts';
import { CATEGORY_NAMES, CATEGORY_RUNS, SCRIPT_NAMES, SCRIPT_RUNS } from './property-table.ts';
import type { CodePointRange, CodePointRanges } from './tree.ts';

/** Categories that combine others, with their aliases: the initial letter of the combined ones. */
const GROUPS: Readonly<Record<string, string>> = {
  Other: 'C',
  Letter: 'L',
  Mark: 'M',
  Combining_Mark: 'M',
  Number: 'N',
  Punctuation: 'P',
  punct: 'P',
  Symbol: 'S',
  Separator: 'Z',
};

interface Partition {
  /** Name or alias to the index of the value. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly runs: readonly (CodePointRange & { readonly index: number })[];
}

const categories = partitionOf(CATEGORY_NAMES, CATEGORY_RUNS);
const scripts = partitionOf(SCRIPT_NAMES, SCRIPT_RUNS);
const rangesByName = new Map<string, CodePointRanges>();

function partitionOf(names: string, text: string): () => Partition {
  let made: Partition | undefined;
  return () => (made ??= makePartition(names, text));
}

function makePartition(names: string, text: string): Partition {
  const indexes = new Map<string, number>();
  for (const [index, aliases] of names.split(' ').entries())
    for (const alias of aliases.split('=')) indexes.set(alias, index);
  let end = 0;
  const runs = Array.from(text.matchAll(/([0-9a-z]+)([A-Z])([A-Z])/g), ([, size, high, low]) => {
    const start = end;
    end += Number.parseInt(size!, 36);
    return { start, end, index: 26 * letterIndex(high!) + letterIndex(low!) };
  });
  return { indexes, runs };
}

function letterIndex(letter: string): number {
  return letter.charCodeAt(0) - 65;
}

function categoryIndexes(name: string): ReadonlySet<number> | undefined {
  const { indexes } = categories();
  const one = indexes.get(name);
  if (one !== undefined) return new Set([one]);
  const names = name === 'LC' || name === 'Cased_Letter' ? ['Ll', 'Lt', 'Lu'] : undefined;
  const letter = Object.hasOwn(GROUPS, name) ? GROUPS[name]! : name;
  const members = [...indexes].filter(([alias]) =>
    names === undefined ? alias.length === 2 && alias.startsWith(letter) : names.includes(alias),
  );
  const isGroup = names !== undefined || Object.values(GROUPS).includes(letter);
  return isGroup ? new Set(members.map(([, index]) => index)) : undefined;
}

/** Whether the name is a general category, a script, or `Any`; case-sensitive. */
export function isPropertyName(name: string): boolean {
  return name === 'Any' || categoryIndexes(name) !== undefined || scripts().indexes.has(name);
}

/** Normalized, without surrogates. Errors: throws on an unknown name. Cost: some milliseconds at the first use of any. */
export function propertyRanges(name: string): CodePointRanges {
  const ranges = rangesByName.get(name) ?? findRanges(name);
  rangesByName.set(name, ranges);
  return ranges;
}

function findRanges(name: string): CodePointRanges {
  const names = categoryIndexes(name);
  if (names !== undefined) return rangesOf(categories(), (index) => names.has(index));
  if (name === 'Any') return rangesOf(categories(), () => true);
  const script = scripts().indexes.get(name);
  if (script === undefined) throw new Error(`no property ${name}`);
  return rangesOf(scripts(), (index) => index === script);
}

function rangesOf({ runs }: Partition, isMatch: (index: number) => boolean): CodePointRange[] {
  const ranges: CodePointRange[] = [];
  const add = (start: number, end: number): void => {
    if (start >= end) return;
    if (ranges.at(-1)?.end === start) ranges.push({ start: ranges.pop()!.start, end });
    else ranges.push({ start, end });
  };
  for (const { start, end, index } of runs) {
    if (!isMatch(index)) continue;
    add(start, Math.min(end, SURROGATES.start));
    add(Math.max(start, SURROGATES.end), end);
  }
  return ranges;
}
