// The engine over ctags: a few processes, each reading one content at a time, started when there is work and
// replaced when they die. A content that kills two of them fails alone.

import { isAscii, isUtf8 } from 'node:buffer';
import { ASCII_PARSERS, ctagsParserOf } from './ctags-languages.ts';
import {
  type CtagsLimits,
  CtagsProcess,
  type CtagsProgram,
  type TagsOutcome,
} from './ctags-process.ts';
import { placeTags } from './ctags-tags.ts';
import type { Engine } from './engine.ts';
import { type Extraction, orderSymbols } from './found.ts';
import { Turns } from './turns.ts';

export interface CtagsOptions extends CtagsLimits {
  /** Most processes. */
  readonly concurrency: number;
}

export class CtagsEngine implements Engine {
  readonly #program: CtagsProgram;
  readonly #options: CtagsOptions;
  readonly #idle: CtagsProcess[] = [];
  readonly #all = new Set<CtagsProcess>();
  readonly #turns: Turns;
  readonly #parsers: ReadonlySet<string>;

  constructor(program: CtagsProgram, options: CtagsOptions) {
    this.#program = program;
    this.#options = options;
    this.#turns = new Turns(options.concurrency);
    this.#parsers = new Set(program.parsers);
  }

  knows(language: string): boolean {
    const parser = ctagsParserOf(language);
    return parser !== undefined && this.#parsers.has(parser);
  }

  async extract(language: string, content: Uint8Array): Promise<Extraction> {
    const parser = ctagsParserOf(language);
    if (parser === undefined || !this.#parsers.has(parser)) return { symbols: [] };
    const read = readable(parser, content);
    const outcome = await this.#turns.run(() => this.#read(parser, read));
    if ('failure' in outcome) return outcome;
    return { symbols: orderSymbols(placeTags(parser, language, read, outcome.tags)) };
  }

  async #read(parser: string, content: Buffer): Promise<TagsOutcome> {
    const first = await this.#readOnce(parser, content);
    if (!('failure' in first) || (first.failure !== 'crash' && first.failure !== 'memory'))
      return first;
    // Why once more: what killed it may have been left behind by the contents before, or be a character.
    return this.#readOnce(parser, plain(content));
  }

  async #readOnce(parser: string, content: Buffer): Promise<TagsOutcome> {
    const ctags = this.#take();
    const outcome = await ctags.read(parser, content);
    if (ctags.isDead) this.#all.delete(ctags);
    else this.#idle.push(ctags);
    return outcome;
  }

  #take(): CtagsProcess {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      if (!idle.isDead) return idle;
      this.#all.delete(idle);
    }
    const ctags = new CtagsProcess(this.#program, this.#options);
    this.#all.add(ctags);
    return ctags;
  }

  async close(): Promise<void> {
    this.#turns.close();
    await Promise.all([...this.#all].map((ctags) => ctags.close()));
  }
}

/** The content in a form that the parser and its JSON can take, each byte at its place. */
function readable(parser: string, content: Uint8Array): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (isAscii(bytes)) return bytes;
  return ASCII_PARSERS.has(parser) || !isUtf8(bytes) ? plain(bytes) : bytes;
}

/** Every byte beyond ASCII as an underscore, which parts no identifier; a byte order mark as spaces. */
function plain(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy[0] === 0xef && copy[1] === 0xbb && copy[2] === 0xbf) copy.fill(0x20, 0, 3);
  for (let i = 0; i < copy.length; i++) if (copy[i]! >= 0x80) copy[i] = 0x5f;
  return copy;
}
