// The engine over patterns (pattern-tables.ts), for languages that are small enough: hides what is no code, then goes once
// through the text, from one definition or bracket to the next. Time grows with the size of the content alone.

import { messageOf } from '../base/caught.ts';
import { type Definition, symbolsOfDefinitions } from './definitions.ts';
import type { Engine } from './engine.ts';
import { type FoundSymbol, orderSymbols } from './found.ts';
import { PATTERN_LANGUAGES, type Rule } from './pattern-tables.ts';
import { hide } from './pattern-hiding.ts';
import { type Scanner, scannerOf } from './pattern-scanners.ts';
import { readText } from './text.ts';

/** Larger ones would hold up the thread. */
const CONTENT_SIZE_MAX = 16 << 20;
/** Definitions deeper than this are not found. Why: to find a parent all that is around is looked at. */
const DEPTH_MAX = 256;
/** Most characters that tell how far to the right a line begins. */
const INDENT_MAX = 100;

export function openPatternEngine(): Engine {
  return {
    knows: (language) => PATTERN_LANGUAGES.has(language),
    async extract(language, content) {
      if (content.length > CONTENT_SIZE_MAX)
        return { failure: 'memory', detail: `too large for patterns: ${content.length} bytes` };
      try {
        return { symbols: symbolsByPatterns(language, content) };
      } catch (error) {
        // Why: V8's regular expressions have a stack that ends.
        return { failure: 'crash', detail: `patterns: ${messageOf(error)}` };
      }
    },
    close: async () => undefined,
  };
}

function symbolsByPatterns(language: string, content: Uint8Array): FoundSymbol[] {
  const { text, inBytes } = readText(content);
  const definitions = new Walk(language, text).definitions();
  return orderSymbols(inBytes(symbolsOfDefinitions(language, definitions)));
}

/** What is open where the walk is. */
interface Frame {
  readonly place: string;
  /** The characters of which each ends it. */
  readonly closes: string;
  readonly definition?: Definition;
  /** The last definition in it, whose bracket is still to come. */
  pending?: { readonly rule: Rule; readonly definition: Definition } | undefined;
}

class Walk {
  readonly #language: string;
  readonly #text: string;
  /** Without what is no code. */
  readonly #code: string;
  readonly #brackets: string;
  readonly #found: Definition[] = [];
  readonly #frames: Frame[] = [{ place: 'top', closes: '' }];
  /** Frames that each closing character ends. */
  readonly #openCounts = new Map<string, number>();
  /** The next place of lines that end something. */
  readonly #ends = new Map<string, number>();

  constructor(language: string, text: string) {
    this.#language = language;
    this.#text = text;
    this.#code = hide(language, text);
    this.#brackets = PATTERN_LANGUAGES.get(language)?.brackets ?? '';
  }

  /** In the order of their starts. */
  definitions(): Definition[] {
    let at = 0;
    for (;;) {
      const { pattern, rules } = this.#scanner();
      pattern.lastIndex = at;
      const match = pattern.exec(this.#code);
      if (match === null) return this.#found;
      const index = rules.findIndex((_, i) => match[i + 1] !== undefined);
      if (index < 0) this.#takeMark(match[0], match.index);
      else this.#takeRule(rules[index]!, match, match[index + 1]!);
      at = match.index + match[0].length;
    }
  }

  #scanner(): Scanner {
    const { length } = this.#frames;
    return scannerOf(this.#language, length > DEPTH_MAX ? 'none' : this.#frames[length - 1]!.place);
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

  #open(place: string, closes: string, definition?: Definition): void {
    this.#frames.push(definition === undefined ? { place, closes } : { place, closes, definition });
    for (const mark of closes) this.#openCounts.set(mark, (this.#openCounts.get(mark) ?? 0) + 1);
    if (definition !== undefined) definition.end = this.#text.length;
  }

  /** Ends the nearest frame that the mark ends, and those in it; nothing if there is none. */
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
    const definition =
      rule.kind === undefined ? undefined : this.#define(rule, match.index, end, name);
    if (rule.until !== undefined) this.#open(rule.opens ?? 'none', rule.until);
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
    return definition;
  }

  /** Its end as long as no bracket has opened. */
  #firstEnd({ isRest, endsWith }: Rule, start: number, nameEnd: number): number {
    if (isRest) return this.#text.length;
    return endsWith === undefined ? nameEnd : this.#lineWith(endsWith, start);
  }

  /** Where the next line begins that has the word where the line of `start` begins; the text's end if there is none. */
  #lineWith(word: string, start: number): number {
    const indent = /[ \t]*/y.exec(this.#code.slice(start, start + INDENT_MAX))?.[0] ?? '';
    const line = `\n${indent}${word}`;
    // Why kept: so each line is looked for once, however many begin.
    let end = this.#ends.get(line) ?? 0;
    if (end <= start) {
      const at = this.#code.indexOf(line, start);
      end = at < 0 ? this.#text.length : at;
      this.#ends.set(line, end);
    }
    return end;
  }
}
