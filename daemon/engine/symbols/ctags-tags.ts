// Converts tags into symbols: finds the name on its line and the symbol of the scope. A tag whose name is not on its line
// (anonymous, or made up by the parser) is dropped.

import { addToList } from '../../base/lists.ts';
import { utf8Text } from '../../base/utf8-text.ts';
import type { Parent, Part, PlacedSymbol } from './found.ts';
import { kindOfTag, TYPE_FIRST_PARSERS } from './ctags-languages.ts';
import { hasLocals, kindInContext, type SymbolKind } from './kinds.ts';

export interface Tag {
  readonly name: string;
  /** 1-based. */
  readonly line: number;
  readonly kind: string;
  /** Names of all enclosing symbols, joined in a language-specific way. */
  readonly scope?: string;
  readonly scopeKind?: string;
  /** `struct:<name>` for a declaration by a type that may have no name. */
  readonly typeref?: string;
  /** Its last line, 1-based. */
  readonly end?: number;
}

/** Parsers whose scopes are headings, joined by `""`. */
const HEADING_PARSERS: ReadonlySet<string> = new Set(
  'Asciidoc Markdown ReStructuredText Tex'.split(' '),
);

const SCOPE_PARTS = /::|\.(?!\.)|\/|\\|''/;

const WORD_CHARACTER = /[\w$\u0080-\uffff]/;

/**
 * Symbols of the tags, in their order.
 * @param content  exactly the bytes that ctags has read
 * @param original  the file, of the same size: names of parents are from there
 */
export function locateTags(
  parser: string,
  language: string,
  content: Buffer,
  tags: readonly Tag[],
  original: Uint8Array = content,
): PlacedSymbol[] {
  const lines = new LineFinder(content, TYPE_FIRST_PARSERS.has(parser));
  const parents = new ParentFinder(parser, tags);
  const placed: PlacedSymbol[] = [];
  for (const tag of inLineOrder(tags)) {
    const kind = kindOfTag(parser, tag.kind);
    if (kind === undefined) continue;
    const position = lines.find(tag.line, tag.name, kind);
    if (position === undefined) continue;
    const parent = tag.scope === undefined ? undefined : parents.parentOf(tag.scope, tag.scopeKind);
    const isVariable = kind === 'variable' || kind === 'constant';
    if (isVariable && parent !== undefined && hasLocals(parent.kind)) continue;
    placed.push({ ...position, kind: kindInContext(language, kind, tag.name, parent), parent });
    if (original !== content) parents.note(tag, position);
  }
  if (original === content) return placed;
  return placed.map((symbol) => {
    const { parent } = symbol;
    if (parent === undefined) return symbol;
    const size = parent.name.length;
    // `parent::name`, where the file has no definition of the parent.
    const { start } = parents.placeOf(parent) ?? { start: symbol.start - 2 - size };
    if (content.toString('latin1', Math.max(0, start), start + size) !== parent.name) return symbol;
    const name = utf8Text(original.subarray(start, start + size));
    return { ...symbol, parent: { ...parent, name } };
  });
}

interface Place {
  readonly start: number;
  readonly size: number;
}

/** Parsers that report the end of each block, unless it is never closed. */
const CLOSING_PARSERS: ReadonlySet<string> = new Set(['C', 'C++', 'CUDA']);
const BLOCKS: ReadonlySet<string> = new Set(
  'class enum function namespace struct union'.split(' '),
);

/**
 * The content from the first unclosed block to the end: ctags takes everything in it for local, so later definitions are
 * missing.
 */
export function unclosedPart(
  parser: string,
  content: Buffer,
  tags: readonly Tag[],
): Part | undefined {
  if (!CLOSING_PARSERS.has(parser)) return undefined;
  const unclosed = inLineOrder(tags).find(({ kind, end }) => end === undefined && BLOCKS.has(kind));
  if (unclosed === undefined) return undefined;
  let start = 0;
  for (let line = 1; line < unclosed.line; line++) {
    const end = content.indexOf(10, start);
    if (end < 0) return undefined;
    start = end + 1;
  }
  return { start, end: content.length };
}

/** Stable: tags of one line keep their order. */
function inLineOrder(tags: readonly Tag[]): readonly Tag[] {
  for (let i = 1; i < tags.length; i++)
    if (tags[i]!.line < tags[i - 1]!.line) return [...tags].sort((a, b) => a.line - b.line);
  return tags;
}

/** The characters that may follow the name of a declaration; other kinds: any. A function has `(` or `<`. */
const FOLLOWERS: ReadonlyMap<SymbolKind, string> = new Map([
  ...(['variable', 'constant', 'field', 'property', 'type'] as const).map(
    (kind) => [kind, '=;,[:){('] as const,
  ),
  ...(['class', 'struct', 'union', 'enum'] as const).map((kind) => [kind, '{:<(\\'] as const),
]);

/** Before a name that is used, not declared: `int z = y, y = 2`. The end of a comment is none. */
const VALUE_BEFORE = /(?:[-=+%|^?!~(]|(?<!\*)\/)\s*$/;

/** Bound: time, on a line with one name thousands of times. */
const POSITIONS_MAX = 16;

/** Finds names on ascending lines. Returns each position once. */
class LineFinder {
  readonly #content: Buffer;
  readonly #isTypeFirst: boolean;
  #line = 1;
  #start = 0;
  #text: string | undefined;
  #words: Map<string, number[]> | undefined;
  /** The columns of a name on the line, descending; those returned are removed. */
  readonly #columns = new Map<string, number[]>();
  readonly #emitted = new Set<number>();

  constructor(content: Buffer, isTypeFirst: boolean) {
    this.#content = content;
    this.#isTypeFirst = isTypeFirst;
  }

  /** `line` is 1-based and ascends. */
  find(line: number, name: string, kind: SymbolKind): Place | undefined {
    if (!this.#goTo(line) || name === '') return undefined;
    for (const form of formsOf(name)) {
      const column = this.#take(form, kind);
      if (column === undefined) continue;
      this.#emitted.add(column);
      return { start: this.#start + column, size: form.length };
    }
    return undefined;
  }

  /** The first free column of the name where it is declared, of the next few; else the first free one. */
  #take(name: string, kind: SymbolKind): number | undefined {
    let columns = this.#columns.get(name);
    if (columns === undefined) {
      columns = this.#columnsOf(name).toReversed();
      this.#columns.set(name, columns);
    }
    // Another name may begin there.
    while (columns.length > 0 && this.#emitted.has(columns.at(-1)!)) columns.pop();
    const end = Math.max(0, columns.length - POSITIONS_MAX);
    for (let i = columns.length - 1; i >= end; i--)
      if (this.#isDeclared(columns[i]!, name, kind)) return columns.splice(i, 1)[0];
    return columns.pop();
  }

  #goTo(line: number): boolean {
    if (line < this.#line) return false;
    if (line === this.#line) return true;
    while (this.#line < line) {
      const end = this.#content.indexOf(10, this.#start);
      if (end < 0) return false;
      this.#start = end + 1;
      this.#line++;
    }
    this.#text = undefined;
    this.#words = undefined;
    this.#columns.clear();
    this.#emitted.clear();
    return true;
  }

  /** One character for each byte. */
  #lineText(): string {
    if (this.#text === undefined) {
      const end = this.#content.indexOf(10, this.#start);
      this.#text = this.#content.toString(
        'latin1',
        this.#start,
        end < 0 ? this.#content.length : end,
      );
    }
    return this.#text;
  }

  /** Columns where the name is a word; if there is none, any occurrence. Long lines are searched by an index of their words. */
  #columnsOf(name: string): readonly number[] {
    const text = this.#lineText();
    if (text.length > 1000) {
      this.#words ??= wordsOf(text);
      return this.#words.get(name) ?? columnsByWord(text, name, this.#words);
    }
    const columns: number[] = [];
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (isWhole(text, at, name)) columns.push(at);
    if (columns.length === 0) {
      const at = text.indexOf(name);
      if (at >= 0) columns.push(at);
    }
    return columns;
  }

  /** Whether the text around a name is that around a declaration of its kind. */
  #isDeclared(column: number, name: string, kind: SymbolKind): boolean {
    if (this.#emitted.has(column)) return false;
    if (!this.#isTypeFirst) return true;
    const end = column + name.length;
    const next = /\S/.exec(this.#lineText().slice(end, end + 80))?.[0];
    if (hasLocals(kind)) return next === '(' || next === '<';
    const followers = FOLLOWERS.get(kind);
    if (followers === undefined) return true;
    const isValue = VALUE_BEFORE.test(this.#lineText().slice(Math.max(0, column - 80), column));
    return !isValue && (next === undefined || followers.includes(next));
  }
}

/** Possible spellings of a name in the text, one character for each byte. */
function formsOf(name: string): string[] {
  // oxlint-disable-next-line no-control-regex
  const form = /^[\0-\x7f]*$/.test(name) ? name : Buffer.from(name).toString('latin1');
  // ctags writes `operator +=` for any spacing, and a selector of Objective-C as one name.
  if (form.startsWith('operator ')) return [form, form.replace(' ', '')];
  const selector = /^(\w+):(?!:)/.exec(form);
  return selector === null ? [form] : [form, selector[1]!];
}

function isWhole(text: string, start: number, name: string): boolean {
  const end = start + name.length;
  const isOpenBefore = WORD_CHARACTER.test(name[0]!) && WORD_CHARACTER.test(text[start - 1] ?? ' ');
  const isOpenBehind =
    WORD_CHARACTER.test(name.at(-1) ?? '') && WORD_CHARACTER.test(text[end] ?? ' ');
  return !isOpenBefore && !isOpenBehind;
}

const WORDS = /[\w$\u0080-\u00ff]+/g;

function wordsOf(text: string): Map<string, number[]> {
  const words = new Map<string, number[]>();
  for (const { 0: word, index } of text.matchAll(WORDS)) addToList(words, word, index);
  return words;
}

/** Columns of a name with other characters, by its rarest word; of that the first thousand are looked at. */
function columnsByWord(
  text: string,
  name: string,
  words: ReadonlyMap<string, readonly number[]>,
): number[] {
  let rarest: { readonly at: number; readonly columns: readonly number[] } | undefined;
  for (const { 0: word, index: at } of name.matchAll(WORDS)) {
    const columns = words.get(word) ?? [];
    if (rarest === undefined || columns.length < rarest.columns.length) rarest = { at, columns };
  }
  if (rarest === undefined) return [];
  const { at, columns } = rarest;
  const starts = columns.slice(0, 1000).map((column) => column - at);
  return starts.filter(
    (start) => start >= 0 && text.startsWith(name, start) && isWhole(text, start, name),
  );
}

class ParentFinder {
  readonly #parser: string;
  /** Between the parts of a scope. */
  readonly #joint: string;
  readonly #tags: readonly Tag[];
  readonly #parents = new Map<string, Parent | undefined>();
  /** The tags of parents, and the places of tags. */
  readonly #tagOf = new Map<Parent, Tag>();
  readonly #places = new Map<Tag, Place>();
  #byScope: Map<string, Tag> | undefined;
  #tagsByName: Map<string, Tag> | undefined;

  constructor(parser: string, tags: readonly Tag[]) {
    this.#parser = parser;
    this.#joint = HEADING_PARSERS.has(parser) ? '""' : '::';
    this.#tags = tags;
  }

  note(tag: Tag, place: Place): void {
    this.#places.set(tag, place);
  }

  /** Where the file defines a parent; undefined: unknown. */
  placeOf(parent: Parent): Place | undefined {
    const tag = this.#tagOf.get(parent);
    return tag && this.#places.get(tag);
  }

  parentOf(scope: string, scopeKind: string | undefined): Parent | undefined {
    const key = `${scopeKind} ${scope}`;
    if (!this.#parents.has(key)) this.#parents.set(key, this.#find(scope, scopeKind));
    return this.#parents.get(key);
  }

  #find(scope: string, scopeKind: string | undefined): Parent | undefined {
    this.#index();
    const container = this.#tagsByName?.get(scope) ?? this.#byScope?.get(pathOf(scope));
    if (container !== undefined) {
      const kind = kindOfTag(this.#parser, container.kind) ?? 'other';
      const isMethod = kind === 'function' && container.scopeKind === 'class';
      if (!isAnonymous(container.name)) {
        const parent: Parent = { name: container.name, kind: isMethod ? 'method' : kind };
        this.#tagOf.set(parent, container);
        return parent;
      }
    }
    const parts = this.#joint === '""' ? [lastHeading(scope)] : scope.split(SCOPE_PARTS);
    const name = parts.at(-1) ?? '';
    if (!isAnonymous(name) && name !== '') {
      const kind = scopeKind === undefined ? undefined : kindOfTag(this.#parser, scopeKind);
      return { name, kind: kind ?? 'other' };
    }
    if (parts.length < 2) return undefined;
    let end = scope.length - name.length;
    while (end > 0 && ":./\\'".includes(scope[end - 1]!)) end--;
    // Why remembered: unnamed scopes may be nested a thousand deep.
    return this.parentOf(scope.slice(0, end), undefined);
  }

  #index(): void {
    if (this.#byScope !== undefined) return;
    this.#byScope = new Map();
    this.#tagsByName = new Map();
    for (const tag of this.#tags) {
      const kind = kindOfTag(this.#parser, tag.kind);
      if (kind === undefined || kind === 'macro' || kind === 'enumMember') continue;
      const key = tag.scope === undefined ? tag.name : `${tag.scope}${this.#joint}${tag.name}`;
      const scopeKey = pathOf(key);
      if (!this.#byScope.has(scopeKey)) this.#byScope.set(scopeKey, tag);
      // `typedef struct { ... } name;`: the members' scope is a made-up name.
      const reference = tag.typeref;
      if (kind === 'type' && reference !== undefined) {
        const target = reference.slice(reference.indexOf(':') + 1);
        if (isAnonymous(target)) this.#tagsByName.set(target, tag);
      }
    }
  }
}

function lastHeading(scope: string): string {
  const at = scope.lastIndexOf('""');
  return at < 0 ? scope : scope.slice(at + 2);
}

function pathOf(scope: string): string {
  return scope.replaceAll('::', '.');
}

function isAnonymous(name: string): boolean {
  return /^(?:__anon|[Aa]nonymous[A-Za-z]{0,30})[0-9a-f]{6,}$/.test(name);
}
