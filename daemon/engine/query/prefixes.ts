// The prefixes of the query language (repo:, file:, sym: and so on; API.md 9.3): names, and the kind of value each takes.
// plan.ts and repos.ts give the values their meaning.

import type { PatternNode, ValuePrefix } from './tree.ts';

/** The kind of a prefix's value; `name` is the long form of the prefix. */
export type Prefix =
  | { readonly kind: 'pattern'; readonly name: PatternNode['prefix'] }
  | { readonly kind: 'text'; readonly name: Exclude<ValuePrefix, EnumPrefix> }
  | { readonly kind: 'enum'; readonly name: EnumPrefix; readonly values: readonly string[] }
  | { readonly kind: 'content' };

type EnumPrefix = 'archived' | 'fork' | 'visibility';

export type LongPrefix = PatternNode['prefix'] | ValuePrefix | 'content';

const PREFIXES: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ['repo', { kind: 'pattern', name: 'repo' }],
  ['r', { kind: 'pattern', name: 'repo' }],
  ['file', { kind: 'pattern', name: 'file' }],
  ['f', { kind: 'pattern', name: 'file' }],
  ['sym', { kind: 'pattern', name: 'sym' }],
  ['content', { kind: 'content' }],
  ['c', { kind: 'content' }],
  ['lang', { kind: 'text', name: 'lang' }],
  ['rev', { kind: 'text', name: 'rev' }],
  ['context', { kind: 'text', name: 'context' }],
  ['reposet', { kind: 'text', name: 'reposet' }],
  ['archived', { kind: 'enum', name: 'archived', values: ['yes', 'no', 'only'] }],
  ['fork', { kind: 'enum', name: 'fork', values: ['yes', 'no', 'only'] }],
  ['visibility', { kind: 'enum', name: 'visibility', values: ['public', 'private', 'any'] }],
]);

export const PREFIX_NAMES: readonly string[] = [...PREFIXES.keys()];

const NAME_SIZE_MAX = Math.max(...PREFIX_NAMES.map((name) => name.length));

export interface FoundPrefix {
  readonly prefix: Prefix;
  readonly end: number;
}

/** The prefix and colon at `index`, if there is one. */
export function findPrefix(characters: readonly string[], index: number): FoundPrefix | undefined {
  let name = '';
  for (let i = index; i <= index + NAME_SIZE_MAX; i++) {
    const character = characters[i];
    if (character === ':') {
      const prefix = PREFIXES.get(name);
      return prefix && { prefix, end: i + 1 };
    }
    if (character === undefined || character < 'a' || character > 'z') return undefined;
    name += character;
  }
  return undefined;
}

export function isPatternPrefix(prefix: Prefix, isRegexEnabled: boolean): boolean {
  return prefix.kind === 'pattern' || (prefix.kind === 'content' && isRegexEnabled);
}
