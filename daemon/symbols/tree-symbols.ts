// From the matches of a grammar's query (queries.ts) to symbols: names, what is around each, what is local.
// Offsets are characters of the parsed text until the very end.

import type { Node, QueryMatch } from 'web-tree-sitter';
import type { PlacedSymbol } from './found.ts';
import { isSymbolKind, kindInPlace, type SymbolKind } from './kinds.ts';

interface Definition {
  readonly role: SymbolKind | 'scope' | 'local';
  /** Of the whole. */
  readonly start: number;
  readonly end: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly name: string;
  readonly parentName: string | undefined;
  readonly patternIndex: number;
}

interface Parent {
  readonly name: string;
  readonly kind: SymbolKind;
}

/** What holds functions and fields. */
const HOLDERS: ReadonlySet<string> = new Set([
  'class',
  'struct',
  'enum',
  'interface',
  'trait',
  'union',
  'object',
  'module',
  'namespace',
]);
const FUNCTIONS: ReadonlySet<string> = new Set(['function', 'method', 'constructor']);
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
  const named = new Set<number>();
  for (const definition of definitions) {
    while (around.length > 0 && around.at(-1)!.end <= definition.start) around.pop();
    const { role, nameStart, nameEnd, name } = definition;
    const isNew = role !== 'scope' && role !== 'local' && !named.has(nameStart);
    if (isNew && !(VARIABLES.has(role) && isLocal(around, definition))) {
      named.add(nameStart);
      const parent =
        definition.parentName === undefined
          ? findParent(around, definition, parentNamed)
          : parentNamed(definition.parentName);
      const kind = kindInPlace(language, role, name, parent);
      placed.push({ start: nameStart, size: nameEnd - nameStart, kind, parent });
    }
    around.push(definition);
  }
  return placed;
}

/** Outer ones first; of those with the same name and place the one of the first pattern first. */
function definitionsOf(text: string, matches: readonly QueryMatch[]): Definition[] {
  const definitions: Definition[] = [];
  for (const match of matches) {
    const definition = definitionOf(text, match);
    if (definition !== undefined) definitions.push(definition);
  }
  return definitions.sort(
    (a, b) => a.start - b.start || b.end - a.end || a.patternIndex - b.patternIndex,
  );
}

function definitionOf(text: string, match: QueryMatch): Definition | undefined {
  let whole: Node | undefined;
  let role: Definition['role'] | undefined;
  let name: { start: number; end: number; parent?: string } | undefined;
  let declarator: Node | undefined;
  let parentName: string | undefined;
  for (const { name: capture, node } of match.captures) {
    if (capture === 'name') name = { start: node.startIndex, end: node.endIndex };
    else if (capture === 'declarator') declarator = node;
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
  // A symbol of Ruby stands for its name.
  const start = text[name.start] === ':' ? name.start + 1 : name.start;
  return {
    role,
    start: whole.startIndex,
    end: whole.endIndex,
    nameStart: start,
    nameEnd: name.end,
    name: text.slice(start, name.end),
    parentName: name.parent ?? parentName,
    patternIndex: match.patternIndex,
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
        if (isFunction && !isDefinition) return undefined;
        return named(node.startIndex, node.endIndex, parent);
    }
  }
  return undefined;
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
  for (let i = around.length - 1; i >= 0; i--) {
    const outer = around[i]!;
    const { role, name } = outer;
    if (!isAround(outer, definition) || name === '') continue;
    if (role === 'scope') return parentNamed(name);
    if (role === 'local') continue;
    if (HOLDERS.has(role) || FUNCTIONS.has(role) || isHolderOf(role, definition.role)) {
      return { name, kind: role };
    }
  }
  return undefined;
}

/** A type around a field is the name of its struct; a variable around a method the name of its object. */
function isHolderOf(outer: string, inner: string): boolean {
  if (outer === 'type') return inner === 'field' || inner === 'enumMember';
  if (!VARIABLES.has(outer)) return false;
  return FUNCTIONS.has(inner) || inner === 'property';
}
