// What is wrong in a configuration file, in words for people: line, key, value where it is no secret, and what is allowed.

import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import type { z } from 'zod';
import { shownValue } from './address.ts';
import { nearest } from '../nearest.ts';
import { knownKeys, memberOf } from './schema-document.ts';

/** Mistakes that are told of a file. */
const MISTAKES_MAX = 20;
/** Mistakes whose place is looked for. */
const LOOKED_MAX = 200;
/** Keys whose values, and what lies in them, are never shown. */
const SECRET_KEYS = new Set<PropertyKey>(['token', 'privateKey', 'clientSecret', 'secret']);

export interface Mistake {
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
  /** Where, and what is allowed there. */
  readonly text: string;
}

/** The text of a file as the parser left it. */
export interface ParsedText {
  readonly tree: Node;
  /** The value of the tree. */
  readonly content: unknown;
}

/** The mistakes as lines, in the order of the file; what is beyond the limit is counted. */
export function mistakeLines(file: string, text: string, mistakes: readonly Mistake[]): string[] {
  const sorted = [...mistakes].sort((left, right) => left.offset - right.offset);
  const lines = sorted
    .slice(0, MISTAKES_MAX)
    .map((mistake) => `${file}:${lineAt(text, mistake.offset)}: ${mistake.text}`);
  const more = sorted.length - MISTAKES_MAX;
  return [...new Set(lines), ...(more > 0 ? [`${file}: and ${more} more`] : [])];
}

/** What zod found. What else is wrong with a value follows from the first, mostly. */
export function mistakesOf(parsed: ParsedText, { issues }: z.ZodError): Mistake[] {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [],
  );
  const others = new Map<string, z.core.$ZodIssue>();
  for (const issue of issues) {
    const key = JSON.stringify(issue.path);
    if (issue.code !== 'unrecognized_keys' && !others.has(key)) others.set(key, issue);
  }
  const all = [
    ...unknown.map((path) => () => unknownKey(parsed, path)),
    ...[...others.values()].map((issue) => () => mistakeAt(parsed, issue)),
  ];
  // Bound: finding one takes a look at all keys of its object.
  const rest = all.slice(LOOKED_MAX).map(() => ({ offset: Infinity, text: '' }));
  return [...all.slice(0, LOOKED_MAX).map((make) => make()), ...rest];
}

function mistakeIn({ tree }: ParsedText, path: readonly PropertyKey[], message: string): Mistake {
  return { offset: nodeAt(tree, path).offset, text: `${keyOf(path)}: ${message}` };
}

/**
 * What zod has no good words for; the others come with the schema.
 *
 * @returns  undefined: as zod says
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return `expected ${kindOf(issue.expected)}`;
  if (issue.code === 'invalid_value') return `allowed: ${issue.values.map(String).join(', ')}`;
  if (issue.code !== 'too_small') return undefined;
  if (issue.origin === 'string') return 'expected a text that is not empty';
  return issue.origin === 'array'
    ? 'empty; give at least one'
    : `allowed: numbers from ${String(issue.minimum)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  number: 'a number',
  int: 'an integer',
};

function kindOf(expected: string): string {
  return KINDS[expected] ?? expected;
}

function mistakeAt(parsed: ParsedText, issue: z.core.$ZodIssue): Mistake {
  const { path } = issue;
  const parent = valueAt(parsed.content, path.slice(0, -1));
  const last = path.at(-1);
  const isMissing = last !== undefined && memberOf(parent, last) === undefined;
  if (isMissing) return mistakeIn(parsed, path, `missing; ${issue.message}`);
  if (issue.code === 'invalid_key')
    return mistakeIn(parsed, path, issue.issues[0]?.message ?? issue.message);
  const isSecret = path.some((key) => SECRET_KEYS.has(key));
  const shown = isSecret ? '' : shownValue(valueAt(parsed.content, path));
  return mistakeIn(parsed, path, shown === '' ? issue.message : `${shown}; ${issue.message}`);
}

/** Why without its value: it may be a secret whose key is misspelt. */
function unknownKey(parsed: ParsedText, path: readonly PropertyKey[]): Mistake {
  const keys = knownKeys(path.slice(0, -1), parsed.content);
  const meant = nearest(String(path.at(-1)), keys);
  const help = meant === undefined ? `allowed: ${keys.join(', ')}` : `did you mean ${meant}?`;
  return mistakeIn(parsed, path, `no such key; ${help}`);
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the file' : path.map(String).join('.');
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => memberOf(value, key), content);
}

/** The node at the keys, or the innermost one on the way that is there. */
function nodeAt(tree: Node, path: readonly PropertyKey[]): Node {
  const keys: JSONPath = path.map((key) => (typeof key === 'number' ? key : String(key)));
  for (let count = keys.length; count > 0; count--) {
    const node = findNodeAtLocation(tree, keys.slice(0, count));
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return tree;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
