// Mistakes of a configuration file as text: line, key, value unless secret, and allowed values.

import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import type { z } from 'zod';
import { displayValue } from './address.ts';
import { nearest } from '../nearest.ts';
import { allowedKeys, memberOf } from './schema-document.ts';

const DIAGNOSTICS_MAX = 20;
/** Mistakes whose position is computed. */
const SEARCHED_MAX = 200;
/** Keys whose values, nested ones included, are never printed. */
const SECRET_KEYS = new Set<PropertyKey>(['token', 'privateKey', 'clientSecret', 'secret']);

export interface Diagnostic {
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
  readonly text: string;
}

export interface ParsedText {
  readonly tree: Node;
  /** The value of the tree. */
  readonly content: unknown;
}

/** The mistakes as lines in file order; those beyond the limit are counted. */
export function diagnosticLines(
  file: string,
  text: string,
  diagnostics: readonly Diagnostic[],
): string[] {
  const sorted = [...diagnostics].sort((left, right) => left.offset - right.offset);
  const lines = sorted.slice(0, DIAGNOSTICS_MAX).map((one) => {
    const line = text.slice(0, one.offset).split('\n').length;
    return `${file}:${line}: ${one.text}`;
  });
  const more = sorted.length - DIAGNOSTICS_MAX;
  return [...new Set(lines), ...(more > 0 ? [`${file}: and ${more} more`] : [])];
}

/** Mistakes found by zod: the first of each value, as the others mostly follow from it. */
export function diagnosticsOf(parsed: ParsedText, { issues }: z.ZodError): Diagnostic[] {
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
    ...[...others.values()].map((issue) => () => diagnosticAt(parsed, issue)),
  ];
  // Bound: finding a position scans all keys of the object.
  const rest = all.slice(SEARCHED_MAX).map(() => ({ offset: Infinity, text: '' }));
  return [...all.slice(0, SEARCHED_MAX).map((make) => make()), ...rest];
}

function diagnosticIn(
  { tree }: ParsedText,
  path: readonly PropertyKey[],
  message: string,
): Diagnostic {
  return { offset: nodeAt(tree, path).offset, text: `${keyOf(path)}: ${message}` };
}

/**
 * Text for issues that zod describes badly; other texts are in the schema.
 *
 * @returns  undefined: use zod's text
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return `expected ${KINDS[issue.expected] ?? issue.expected}`;
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

function diagnosticAt(parsed: ParsedText, issue: z.core.$ZodIssue): Diagnostic {
  const { path } = issue;
  const parent = valueAt(parsed.content, path.slice(0, -1));
  const last = path.at(-1);
  const isMissing = last !== undefined && memberOf(parent, last) === undefined;
  if (isMissing) return diagnosticIn(parsed, path, `missing; ${issue.message}`);
  if (issue.code === 'invalid_key')
    return diagnosticIn(parsed, path, issue.issues[0]?.message ?? issue.message);
  const isSecret = path.some((key) => SECRET_KEYS.has(key));
  const quoted = isSecret ? '' : displayValue(valueAt(parsed.content, path));
  return diagnosticIn(parsed, path, quoted === '' ? issue.message : `${quoted}; ${issue.message}`);
}

/** Why without its value: it may be a secret under a misspelt key. */
function unknownKey(parsed: ParsedText, path: readonly PropertyKey[]): Diagnostic {
  const keys = allowedKeys(path.slice(0, -1), parsed.content);
  const suggestion = nearest(String(path.at(-1)), keys);
  const help =
    suggestion === undefined ? `allowed: ${keys.join(', ')}` : `did you mean ${suggestion}?`;
  return diagnosticIn(parsed, path, `no such key; ${help}`);
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the file' : path.map(String).join('.');
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => memberOf(value, key), content);
}

/** The node at the path, or its innermost existing ancestor. */
function nodeAt(tree: Node, path: readonly PropertyKey[]): Node {
  const keys: JSONPath = path.map((key) => (typeof key === 'number' ? key : String(key)));
  for (let count = keys.length; count > 0; count--) {
    const node = findNodeAtLocation(tree, keys.slice(0, count));
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return tree;
}
