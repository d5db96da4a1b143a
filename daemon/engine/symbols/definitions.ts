// Converts definitions with their extents into symbols: finds the parent, drops locals, adjusts the kind. Offsets are
// characters (text.ts).

import type { Parent, PlacedSymbol } from './found.ts';
import { CLASS_KINDS, isSymbolKind, kindInContext, type SymbolKind } from './kinds.ts';

export interface Definition {
  /** The kind is adjusted when all enclosing definitions are known. */
  role: SymbolKind | 'scope' | 'local';
  readonly start: number;
  end: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly name: string;
  readonly parentName: string | undefined;
  /** It encloses the rest of the file, without brackets. */
  readonly isRest: boolean;
}

const CONTAINER_ROLES: ReadonlySet<string> = new Set([...CLASS_KINDS, 'module', 'namespace']);
const FUNCTIONS: ReadonlySet<string> = new Set(['function', 'method', 'constructor']);
/** Kinds that only classes and similar contain. */
const MEMBERS: ReadonlySet<string> = new Set(['field', 'property', 'enumMember']);
const VARIABLES: ReadonlySet<string> = new Set(['variable', 'constant']);

/** Symbols of a text's definitions, which are ordered by start, outer ones first. */
export function symbolsOfDefinitions(
  language: string,
  definitions: readonly Definition[],
): PlacedSymbol[] {
  const kinds = new Map<string, SymbolKind>();
  for (const { role, name } of definitions)
    if (CONTAINER_ROLES.has(role) && isSymbolKind(role) && !kinds.has(name)) kinds.set(name, role);
  const parentOf = (name: string): Parent => ({ name, kind: kinds.get(name) ?? 'type' });
  const around: Definition[] = [];
  const placed: PlacedSymbol[] = [];
  for (const definition of definitions) {
    while ((around.at(-1)?.end ?? Infinity) <= definition.start) around.pop();
    const { role, nameStart, nameEnd, name, parentName } = definition;
    const parent =
      parentName === undefined ? findParent(around, definition, parentOf) : parentOf(parentName);
    // Why fields: those of an unnamed local struct.
    const canBeLocal = VARIABLES.has(role) || (MEMBERS.has(role) && parent === undefined);
    if (isKind(role) && !(canBeLocal && isLocal(around, definition))) {
      definition.role = kindInContext(language, role, name, parent);
      placed.push({ start: nameStart, size: nameEnd - nameStart, kind: definition.role, parent });
    }
    around.push(definition);
  }
  return placed;
}

export function isKind(role: Definition['role']): role is SymbolKind {
  return role !== 'scope' && role !== 'local';
}

function isAround(outer: Definition, inner: Definition): boolean {
  return outer.end >= inner.end && outer.end - outer.start > inner.end - inner.start;
}

/** Whether the nearest relevant enclosing definition is a function, not a class. */
function isLocal(around: readonly Definition[], definition: Definition): boolean {
  for (let i = around.length - 1; i >= 0; i--) {
    const outer = around[i]!;
    if (!isAround(outer, definition)) continue;
    if (outer.role === 'local' || FUNCTIONS.has(outer.role)) return true;
    if (outer.role === 'scope' || CONTAINER_ROLES.has(outer.role)) return false;
  }
  return false;
}

function findParent(
  around: readonly Definition[],
  definition: Definition,
  parentOf: (name: string) => Parent,
): Parent | undefined {
  if (definition.isRest) return undefined;
  for (let i = around.length - 1; i >= 0; i--) {
    const { role, name, isRest } = around[i]!;
    if (!isAround(around[i]!, definition) || name === '') continue;
    if (role === 'scope') return parentOf(name);
    if (role !== 'local' && canContain(role, definition.role, isRest)) return { name, kind: role };
  }
  return undefined;
}

/** For a field a type is the name of its struct, for a method a variable the name of its object. */
function canContain(outer: SymbolKind, inner: string, isRest: boolean): boolean {
  if (isRest) return !MEMBERS.has(inner);
  if (CONTAINER_ROLES.has(outer)) return true;
  if (FUNCTIONS.has(outer)) return !MEMBERS.has(inner);
  if (outer === 'type') return MEMBERS.has(inner) || inner === 'method';
  return VARIABLES.has(outer) && (FUNCTIONS.has(inner) || inner === 'property');
}
