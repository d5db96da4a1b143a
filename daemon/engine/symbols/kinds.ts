// The kinds of symbols, and their adjustment to context and name. Files store the index in this list: new kinds are appended.

export const SYMBOL_KINDS = [
  'class',
  'struct',
  'enum',
  'enumMember',
  'interface',
  'trait',
  'type',
  'union',
  'function',
  'method',
  'constructor',
  'property',
  'field',
  'constant',
  'variable',
  'macro',
  'module',
  'namespace',
  'package',
  'object',
  'section',
  'label',
  'other',
] as const;

export type SymbolKind = (typeof SYMBOL_KINDS)[number];

const INDEXES = new Map<string, number>(SYMBOL_KINDS.map((kind, index) => [kind, index]));

export function kindIndex(kind: SymbolKind): number {
  return INDEXES.get(kind)!;
}

export function isSymbolKind(word: string): word is SymbolKind {
  return INDEXES.has(word);
}

export const CLASS_KINDS = [
  'class',
  'struct',
  'enum',
  'interface',
  'trait',
  'union',
  'object',
] as const satisfies readonly SymbolKind[];

const KINDS_WITH_MEMBERS: ReadonlySet<SymbolKind> = new Set([
  ...CLASS_KINDS,
  // The name of an unnamed struct, or the target of an implementation.
  'type',
]);

/** The kind of a class's variables and constants, by language; `field` for the others. */
const MEMBER_KINDS: Readonly<Record<string, SymbolKind>> = {
  Kotlin: 'property',
  Scala: 'field',
  Swift: 'property',
};

const CONSTRUCTOR_NAMES: Readonly<Record<string, string>> = {
  JavaScript: 'constructor',
  JSX: 'constructor',
  TypeScript: 'constructor',
  TSX: 'constructor',
  Python: '__init__',
  Starlark: '__init__',
  PHP: '__construct',
  Ruby: 'initialize',
  Swift: 'init',
};

/** Languages whose constructors have the name of their class. */
const NAMED_CONSTRUCTORS: ReadonlySet<string> = new Set(['C++', 'Cuda', 'C#', 'Java', 'D']);

/** Whether a variable with this parent is local, and not a symbol. */
export function hasLocals(kind: SymbolKind): boolean {
  return kind === 'function' || kind === 'method' || kind === 'constructor';
}

/** A function of a class is a method, or its constructor. */
export function kindInContext(
  language: string,
  kind: SymbolKind,
  name: string,
  parent: { readonly name: string; readonly kind: SymbolKind } | undefined,
): SymbolKind {
  if (parent === undefined || !KINDS_WITH_MEMBERS.has(parent.kind)) {
    // ctags reports every Kotlin function as a method.
    return kind === 'method' && language === 'Kotlin' ? 'function' : kind;
  }
  if (kind === 'variable') return MEMBER_KINDS[language] ?? 'field';
  if (kind === 'constant') return MEMBER_KINDS[language] ?? kind;
  if (kind !== 'function' && kind !== 'method') return kind;
  const isConstructor = NAMED_CONSTRUCTORS.has(language)
    ? name === parent.name
    : CONSTRUCTOR_NAMES[language] === name;
  return isConstructor ? 'constructor' : 'method';
}
