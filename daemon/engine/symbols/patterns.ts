// The pattern engine (pattern-tables.ts), for small languages: hides what is not code, then walks the text once. Linear time.

import { messageOf } from '../../base/caught.ts';
import { addToList } from '../../base/lists.ts';
import { type Definition, symbolsOfDefinitions } from './definitions.ts';
import { type Engine, type Extraction, orderSymbols } from './found.ts';
import {
  type Hidden,
  PATTERN_LANGUAGES,
  type PatternLanguage,
  type Rule,
} from './pattern-tables.ts';
import { readText, TEXT_SIZE_MAX } from './text.ts';

/** Most characters that count as indentation. */
const INDENT_MAX = 100;

export function openPatternEngine(): Engine {
  return {
    knows: (language) => PATTERN_LANGUAGES.has(language),
    async extract(language, content) {
      if (content.length > TEXT_SIZE_MAX)
        return { failure: 'memory', detail: `too large for patterns: ${content.length} bytes` };
      try {
        return symbolsByPatterns(language, content);
      } catch (error) {
        // Why: V8's regular expressions have a limited stack.
        return { failure: 'crash', detail: `patterns: ${messageOf(error)}` };
      }
    },
    close: async () => undefined,
  };
}

function symbolsByPatterns(language: string, content: Uint8Array): Extraction {
  const { text, inBytes } = readText(content);
  const definitions = new Walk(language, text).definitions();
  if (definitions === undefined)
    return { failure: 'output', detail: 'patterns: too many or too deeply nested symbols' };
  return { symbols: orderSymbols(inBytes(symbolsOfDefinitions(language, definitions))) };
}

/** Starts of the lines that begin with the word, by indentation: the last one first. */
function linesWith(word: string, code: string): Map<string, number[]> {
  const line = new RegExp(`\\n([ \\t]{0,${INDENT_MAX}})${word}\\b`, 'g');
  const lineStarts = new Map<string, number[]>();
  for (const { 1: indent = '', index } of [...code.matchAll(line)].reverse())
    addToList(lineStarts, indent, index);
  return lineStarts;
}

interface Frame {
  readonly scope: string;
  /** Any of these characters ends it. */
  readonly closes: string;
  readonly definition?: Definition;
  /** Its last definition, whose bracket has not come yet. */
  pending?: { readonly rule: Rule; readonly definition: Definition } | undefined;
}

class Walk {
  readonly #language: string;
  readonly #text: string;
  readonly #code: string;
  readonly #brackets: string;
  readonly #found: Definition[] = [];
  readonly #names = new Set<string>();
  readonly #frames: Frame[] = [{ scope: 'top', closes: '' }];
  /** Number of open frames by closing character. */
  readonly #openCounts = new Map<string, number>();
  /** By word, the ending lines that are still ahead. */
  readonly #ends = new Map<string, ReturnType<typeof linesWith>>();

  constructor(language: string, text: string) {
    this.#language = language;
    this.#text = text;
    this.#code = hide(language, text);
    this.#brackets = PATTERN_LANGUAGES.get(language)?.brackets ?? '';
  }

  /** In order of start; undefined: too many. */
  definitions(): Definition[] | undefined {
    let at = 0;
    // Bound: memory.
    while (Math.max(this.#found.length, this.#frames.length) <= 1 << 19) {
      const { pattern, rules } = this.#scanner();
      pattern.lastIndex = at;
      const match = pattern.exec(this.#code);
      if (match === null) return this.#found;
      const index = rules.findIndex((_, i) => match[i + 1] !== undefined);
      if (index < 0) this.#takeMark(match[0], match.index);
      else this.#takeRule(rules[index]!, match, match[index + 1]!);
      at = match.index + match[0].length;
    }
    return undefined;
  }

  #scanner(): Scanner {
    const { length } = this.#frames;
    // Bound: finding a parent walks all enclosing definitions. Deeper ones are not found.
    return scannerOf(this.#language, length > 256 ? 'none' : this.#frames[length - 1]!.scope);
  }

  #takeMark(mark: string, at: number): void {
    const index = this.#brackets.indexOf(mark);
    if (index < 0 || index % 2 === 1) return this.#close(mark, at);
    const frame = this.#frames.at(-1)!;
    const { rule, definition } = frame.pending ?? {};
    if (rule?.body === mark && rule.opens !== undefined && definition !== undefined) {
      frame.pending = undefined;
      this.#open(rule.opens, this.#brackets[index + 1]!, definition);
    } else this.#open('none', this.#brackets[index + 1]!);
  }

  #open(scope: string, closes: string, definition?: Definition): void {
    this.#frames.push(definition === undefined ? { scope, closes } : { scope, closes, definition });
    for (const mark of closes) this.#openCounts.set(mark, (this.#openCounts.get(mark) ?? 0) + 1);
    if (definition !== undefined) definition.end = this.#text.length;
  }

  /** Closes the nearest frame that the mark ends, and those inside. */
  #close(mark: string, at: number): void {
    if ((this.#openCounts.get(mark) ?? 0) === 0) return;
    while (this.#pop(at + 1)?.closes.includes(mark) === false);
  }

  #pop(end: number): Frame | undefined {
    const frame = this.#frames.pop();
    for (const mark of frame?.closes ?? '')
      this.#openCounts.set(mark, this.#openCounts.get(mark)! - 1);
    if (frame?.definition !== undefined) frame.definition.end = end;
    return frame;
  }

  #takeRule(rule: Rule, match: RegExpExecArray, name: string): void {
    if (rule.within === undefined) while (this.#frames.length > 1) this.#pop(match.index);
    const frame = this.#frames.at(-1)!;
    const end = match.index + match[0].length;
    const isRepeat = rule.isFirstOnly && this.#names.has(name);
    const definition =
      rule.kind === undefined || isRepeat ? undefined : this.#define(rule, match.index, end, name);
    if (rule.until !== undefined) this.#open(rule.opens ?? 'none', rule.until, definition);
    else if (definition !== undefined) frame.pending = { rule, definition };
  }

  #define(rule: Rule, start: number, nameEnd: number, name: string): Definition {
    const { kind, isRest } = rule;
    const nameStart = nameEnd - name.length;
    const definition: Definition = {
      role: kind!,
      start,
      end: this.#firstEnd(rule, start, nameEnd),
      nameStart,
      nameEnd,
      name: this.#text.slice(nameStart, nameEnd),
      parentName: undefined,
      isRest: isRest === true,
    };
    this.#found.push(definition);
    this.#names.add(name);
    return definition;
  }

  /** Its end until a bracket opens. */
  #firstEnd({ isRest, endsWith }: Rule, start: number, nameEnd: number): number {
    if (isRest) return this.#text.length;
    return endsWith === undefined ? nameEnd : this.#lineWith(endsWith, start);
  }

  /** The start of the next line that begins with the word at the indentation of the line of `start`, else the text's end. */
  #lineWith(word: string, start: number): number {
    const indent = /[ \t]*/y.exec(this.#code.slice(start, start + INDENT_MAX))?.[0] ?? '';
    let lines = this.#ends.get(word);
    if (lines === undefined) this.#ends.set(word, (lines = linesWith(word, this.#code)));
    const lineStarts = lines.get(indent) ?? [];
    while ((lineStarts.at(-1) ?? Infinity) <= start) lineStarts.pop();
    return lineStarts.at(-1) ?? this.#text.length;
  }
}

interface Scanner {
  /** Matches a bracket, or the name of the rule whose group matched; the match ends with it. */
  readonly pattern: RegExp;
  /** In the order of their groups. */
  readonly rules: readonly Rule[];
}

const scanners = new Map<string, Scanner>();

function scannerOf(language: string, scope: string): Scanner {
  const key = `${language} ${scope}`;
  let scanner = scanners.get(key);
  if (scanner === undefined) {
    scanner = makeScanner(PATTERN_LANGUAGES.get(language)!, scope);
    scanners.set(key, scanner);
  }
  return scanner;
}

function makeScanner(
  { rules, brackets, name, isCaseBlind }: PatternLanguage,
  scope: string,
): Scanner {
  const holding = rules.filter(({ within }) => within === undefined || within.includes(scope));
  const ends = rules.find(({ opens }) => opens === scope)?.until ?? '';
  const marks = `${brackets}${ends}`.split('').map((mark) => `\\${mark}`);
  const parts = holding.map(({ pattern, kind }) =>
    kind === undefined ? `(${pattern})` : pattern.replace('NAME', `(${name})`),
  );
  // An empty character class matches nothing.
  parts.push(`[${marks.join('')}]`);
  return { pattern: new RegExp(parts.join('|'), isCaseBlind ? 'gim' : 'gm'), rules: holding };
}

/** How comments, strings and line continuations of a language become spaces. */
interface Hiding {
  /** With one group for each kind. */
  readonly opens: RegExp;
  readonly kinds: readonly (Hidden & { readonly end: RegExp | undefined })[];
}

const hidings = new Map<string, Hiding>();

function hidingOf(language: string): Hiding {
  const cached = hidings.get(language);
  if (cached !== undefined) return cached;
  const kinds = PATTERN_LANGUAGES.get(language)?.hidden ?? [];
  const hiding = {
    opens: new RegExp(kinds.map(({ opens }) => `(${opens})`).join('|'), 'gm'),
    kinds: kinds.map((kind) => ({
      ...kind,
      end: typeof kind.closes === 'string' ? new RegExp(kind.closes, 'gm') : undefined,
    })),
  };
  hidings.set(language, hiding);
  return hiding;
}

export function hide(language: string, text: string): string {
  const { opens, kinds } = hidingOf(language);
  const parts: string[] = [];
  // A byte order mark precedes the first line.
  let at = text.startsWith('\ufeff') ? 1 : 0;
  if (at === 1) parts.push(' ');
  opens.lastIndex = at;
  for (let match = opens.exec(text); match !== null; match = opens.exec(text)) {
    const { index } = match;
    const kind = kinds.find((_, i) => match[i + 1] !== undefined)!;
    const end = endOf(text, match, kind);
    parts.push(text.slice(at, index), hidden(text.slice(index, end), kind));
    at = end;
    opens.lastIndex = end;
  }
  return parts.join('') + text.slice(at);
}

function endOf(text: string, match: RegExpExecArray, { closes, end }: Hiding['kinds'][0]): number {
  const from = match.index + match[0].length;
  if (typeof closes !== 'string') {
    const words = closes(match[0]);
    const at = text.indexOf(words, from);
    return at < 0 ? text.length : at + words.length;
  }
  if (end === undefined) return from;
  end.lastIndex = from;
  for (let found = end.exec(text); found !== null; found = end.exec(text)) {
    if (found[0].startsWith('\\')) continue;
    return found[0] === '\n' ? found.index : found.index + found[0].length;
  }
  return text.length;
}

function hidden(text: string, { as }: Hidden): string {
  if (as === 'joins') return ' '.repeat(text.length);
  if (as !== 'name') return filled(text, ' ');
  return text.length < 2 ? text : text[0]! + filled(text.slice(1, -1), '_') + text.slice(-1);
}

function filled(text: string, character: string): string {
  return text.replaceAll(/[^\n]+/g, ({ length }) => character.repeat(length));
}
