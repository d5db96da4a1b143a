// From the matches of a grammar's query (queries.ts) to symbols: names, what is around each, what is local.
// Offsets are characters of the parsed text until the very end.

import type { Node, QueryMatch } from 'web-tree-sitter';
import type { PlacedSymbol } from './found.ts';
import { CLASS_KINDS, isSymbolKind, kindInPlace, type SymbolKind } from './kinds.ts';

interface Definition {
  /** The kind by its place is filled in when all around it is known. */
  role: SymbolKind | 'scope' | 'local';
  /** Of the whole. */
  readonly start: number;
  readonly end: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly name: string;
  readonly parentName: string | undefined;
  readonly patternIndex: number;
  /** It is around all that follows, without brackets. */
  readonly isRest: boolean;
}

interface Parent {
  readonly name: string;
  readonly kind: SymbolKind;
}

/** What holds functions and fields. */
const HOLDERS: ReadonlySet<string> = new Set([...CLASS_KINDS, 'module', 'namespace']);
const FUNCTIONS: ReadonlySet<string> = new Set(['function', 'method', 'constructor']);
/** What only a class and its like can hold. */
const MEMBERS: ReadonlySet<string> = new Set(['field', 'property', 'enumMember']);
const VARIABLES: ReadonlySet<string> = new Set(['variable', 'constant']);

/** Symbols of the matches; places are characters of `text`. */
export function symbolsOfMatches(
  language: string,
  text: string,
  matches: readonly QueryMatch[],
): PlacedSymbol[] {
  const definitions = definitionsOf(text, matches);
  const kinds = new Map<string, SymbolKind>();
  for (const { role, name } of definitions) {
    if (HOLDERS.has(role) && isSymbolKind(role) && !kinds.has(name)) kinds.set(name, role);
  }
  const parentNamed = (name: string): Parent => ({ name, kind: kinds.get(name) ?? 'type' });
  const around: Definition[] = [];
  const placed: PlacedSymbol[] = [];
  for (const definition of definitions) {
    while ((around.at(-1)?.end ?? Infinity) <= definition.start) around.pop();
    const { role, nameStart, nameEnd, name, parentName } = definition;
    const parent =
      parentName === undefined
        ? findParent(around, definition, parentNamed)
        : parentNamed(parentName);
    // Why fields: those of a local struct without a name.
    const canBeLocal = VARIABLES.has(role) || (MEMBERS.has(role) && parent === undefined);
    if (isKind(role) && !(canBeLocal && isLocal(around, definition))) {
      definition.role = kindInPlace(language, role, name, parent);
      placed.push({ start: nameStart, size: nameEnd - nameStart, kind: definition.role, parent });
    }
    around.push(definition);
  }
  return placed;
}

function isKind(role: Definition['role']): role is SymbolKind {
  return role !== 'scope' && role !== 'local';
}

/** Outer ones first; of those with the same name the one of the first pattern alone. */
function definitionsOf(text: string, matches: readonly QueryMatch[]): Definition[] {
  const others: Definition[] = [];
  const byName = new Map<number, Definition>();
  for (const match of matches) {
    const definition = definitionOf(text, match);
    if (definition === undefined) continue;
    const { role, nameStart, patternIndex } = definition;
    if (!isKind(role)) others.push(definition);
    else if (patternIndex < (byName.get(nameStart)?.patternIndex ?? Infinity)) {
      byName.set(nameStart, definition);
    }
  }
  return [...others, ...byName.values()].sort(
    (a, b) => a.start - b.start || b.end - a.end || a.nameStart - b.nameStart,
  );
}

function definitionOf(text: string, match: QueryMatch): Definition | undefined {
  let whole: Node | undefined;
  let role: Definition['role'] | undefined;
  let name: { start: number; end: number; parent?: string } | undefined;
  let declarator: Node | undefined;
  let parentName: string | undefined;
  let isRest = false;
  for (const { name: capture, node } of match.captures) {
    if (capture === 'name') name = { start: node.startIndex, end: node.endIndex };
    else if (capture === 'declarator') declarator = node;
    else if (capture === 'rest') isRest = true;
    else if (capture === 'parent') parentName = text.slice(node.startIndex, node.endIndex);
    else if (capture === 'scope' || capture === 'local' || isSymbolKind(capture)) {
      role = capture;
      whole = node;
    }
  }
  if (whole === undefined || role === undefined) return undefined;
  if (declarator !== undefined) name = declaredName(declarator, whole, role);
  else if (role === 'local') name = { start: whole.startIndex, end: whole.startIndex };
  if (name === undefined) return undefined;
  // A symbol of Ruby stands for its name; a private name of JavaScript is another one than that without `#`.
  const start = text[name.start] === ':' ? name.start + 1 : name.start;
  // Where the grammar lost its way, a name may have swallowed the lines before it.
  if (text.slice(start, name.end).includes('\n')) return undefined;
  return {
    role,
    start: whole.startIndex,
    end: isRest ? text.length : whole.endIndex,
    nameStart: start,
    nameEnd: name.end,
    name: text.slice(start, name.end),
    parentName: name.parent ?? parentName,
    patternIndex: match.patternIndex,
    isRest,
  };
}

/** The name at the bottom of a declarator of C or C++; undefined: it is a prototype, or declared elsewhere. */
function declaredName(
  declarator: Node,
  whole: Node,
  role: string,
): { start: number; end: number; parent?: string } | undefined {
  const isDefinition = role === 'function' || role === 'type';
  if (!isDefinition && declarator.type !== 'init_declarator' && isExternal(whole)) return undefined;
  let parent: string | undefined;
  let isFunction = false;
  for (let node: Node | null = declarator; node !== null;) {
    switch (node.type) {
      case 'function_declarator':
        isFunction = true;
        node = node.childForFieldName('declarator');
        break;
      case 'pointer_declarator':
      case 'array_declarator':
      case 'init_declarator':
        // What is declared is a pointer to a function, or an array of them.
        isFunction = false;
        node = node.childForFieldName('declarator');
        break;
      case 'qualified_identifier': {
        const scope = node.childForFieldName('scope');
        if (scope !== null) parent = (scope.childForFieldName('name') ?? scope).text;
        node = node.childForFieldName('name');
        break;
      }
      case 'template_function':
        node = node.childForFieldName('name');
        break;
      case 'operator_cast':
        return named(node.startIndex, castEnd(node), parent);
      case 'parenthesized_declarator':
      case 'reference_declarator':
      case 'attributed_declarator':
        node = node.firstNamedChild;
        break;
      default:
        if ((isFunction && !isDefinition) || !isName(node)) return undefined;
        return named(node.startIndex, node.endIndex, parent);
    }
  }
  return undefined;
}

/** False where the grammar lost its way. */
function isName({ type, namedChildCount }: Node): boolean {
  return namedChildCount === 0 || type === 'operator_name' || type === 'destructor_name';
}

function named(
  start: number,
  end: number,
  parent: string | undefined,
): { start: number; end: number; parent?: string } {
  return parent === undefined ? { start, end } : { start, end, parent };
}

/** End of `operator bool` in `operator bool() const`. */
function castEnd(cast: Node): number {
  return cast.childForFieldName('type')?.endIndex ?? cast.endIndex;
}

function isExternal(declaration: Node): boolean {
  return declaration.namedChildren.some(
    (child) => child.type === 'storage_class_specifier' && child.text === 'extern',
  );
}

function isAround(outer: Definition, inner: Definition): boolean {
  return outer.end >= inner.end && outer.end - outer.start > inner.end - inner.start;
}

/** Whether a function, not a class, is the nearest thing around that counts. */
function isLocal(around: readonly Definition[], definition: Definition): boolean {
  for (let i = around.length - 1; i >= 0; i--) {
    const outer = around[i]!;
    if (!isAround(outer, definition)) continue;
    if (outer.role === 'local' || FUNCTIONS.has(outer.role)) return true;
    if (outer.role === 'scope' || HOLDERS.has(outer.role)) return false;
  }
  return false;
}

function findParent(
  around: readonly Definition[],
  definition: Definition,
  parentNamed: (name: string) => Parent,
): Parent | undefined {
  if (definition.isRest) return undefined;
  for (let i = around.length - 1; i >= 0; i--) {
    const { role, name, isRest } = around[i]!;
    if (!isAround(around[i]!, definition) || name === '') continue;
    if (role === 'scope') return parentNamed(name);
    if (role !== 'local' && isHolderOf(role, definition.role, isRest)) {
      return { name, kind: role };
    }
  }
  return undefined;
}

/**
 * Whether one is the parent of the other, which it is around: a type around a field is the name of its struct, a
 * variable around a method the name of its object.
 */
function isHolderOf(outer: SymbolKind, inner: string, isRest: boolean): boolean {
  if (isRest) return !MEMBERS.has(inner);
  if (HOLDERS.has(outer)) return true;
  if (FUNCTIONS.has(outer)) return !MEMBERS.has(inner);
  if (outer === 'type') return MEMBERS.has(inner) || inner === 'method';
  return VARIABLES.has(outer) && (FUNCTIONS.has(inner) || inner === 'property');
}
