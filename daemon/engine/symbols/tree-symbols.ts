// Converts the matches of a grammar's query (queries.ts) into definitions (definitions.ts).

import type { Node, QueryMatch } from 'web-tree-sitter';
import { type Definition, isKind } from './definitions.ts';
import { isSymbolKind } from './kinds.ts';

interface Match extends Definition {
  readonly patternIndex: number;
}

interface Name {
  readonly start: number;
  readonly end: number;
  readonly parent?: string | undefined;
}

/** Outer ones first; of those with the same name only the one of the first pattern. */
export function definitionsOf(text: string, matches: readonly QueryMatch[]): Definition[] {
  const others: Match[] = [];
  const byName = new Map<number, Match>();
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

function definitionOf(text: string, match: QueryMatch): Match | undefined {
  let whole: Node | undefined;
  let role: Definition['role'] | undefined;
  let name: Name | undefined;
  let declarator: Node | undefined;
  let parentName: string | undefined;
  let isRest = false;
  let end: number | undefined;
  for (const { name: capture, node } of match.captures) {
    if (capture === 'name') name = { start: node.startIndex, end: node.endIndex };
    else if (capture === 'declarator') declarator = node;
    else if (capture === 'rest') isRest = true;
    else if (capture === 'body') end = node.endIndex;
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
  // A Ruby symbol counts as its name; the `#` of a private JavaScript name is part of the name.
  const start = text[name.start] === ':' ? name.start + 1 : name.start;
  // After a parse error a name may include the lines before it.
  if (text.slice(start, name.end).includes('\n')) return undefined;
  return {
    role,
    start: whole.startIndex,
    end: isRest ? text.length : (end ?? whole.endIndex),
    nameStart: start,
    nameEnd: name.end,
    name: text.slice(start, name.end),
    parentName: name.parent ?? parentName,
    patternIndex: match.patternIndex,
    isRest,
  };
}

/** The innermost name of a declarator of C or C++; undefined: it is a prototype, or declared elsewhere. */
function declaredName(declarator: Node, whole: Node, role: string): Name | undefined {
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
        // A pointer to a function, or an array of such pointers.
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
      case 'template_type':
        node = node.childForFieldName('name');
        break;
      case 'operator_cast':
        // The end of `operator bool` in `operator bool() const`.
        return {
          start: node.startIndex,
          end: node.childForFieldName('type')?.endIndex ?? node.endIndex,
          parent,
        };
      case 'parenthesized_declarator':
      case 'reference_declarator':
      case 'attributed_declarator':
        node = node.firstNamedChild;
        break;
      default:
        if ((isFunction && !isDefinition) || !isName(node)) return undefined;
        return { start: node.startIndex, end: node.endIndex, parent };
    }
  }
  return undefined;
}

const RESERVED =
  /^(?:char|else|enum|explicit|for|if|int|namespace|noexcept|return|struct|switch|typename|union|void|while)$/;

/** False after a parse error. */
function isName({ type, namedChildCount, text }: Node): boolean {
  if (namedChildCount > 0) return type === 'operator_name' || type === 'destructor_name';
  return !RESERVED.test(text);
}

function isExternal(declaration: Node): boolean {
  return declaration.namedChildren.some(
    (child) => child.type === 'storage_class_specifier' && child.text === 'extern',
  );
}
