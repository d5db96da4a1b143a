// The ctags engine. A content that kills two processes fails; the others continue.

import { isAscii, isUtf8 } from 'node:buffer';
import { ASCII_PARSERS, ctagsParserOf } from './ctags-languages.ts';
import {
  type CtagsLimits,
  CtagsProcess,
  type CtagsProgram,
  type TagsOutcome,
} from './ctags-process.ts';
import { locateTags, unclosedPart } from './ctags-tags.ts';
import { type Engine, orderSymbols } from './found.ts';
import { ReaderPool } from './pool.ts';

export interface CtagsOptions extends CtagsLimits {
  readonly concurrency: number;
}

export function openCtagsEngine(program: CtagsProgram, options: CtagsOptions): Engine {
  const pool = new ReaderPool(options.concurrency, () => new CtagsProcess(program, options));
  const parsers = new Set(program.parsers);
  const parserOf = (language: string): string | undefined => {
    const parser = ctagsParserOf(language);
    return parser !== undefined && parsers.has(parser) ? parser : undefined;
  };
  return {
    knows: (language) => parserOf(language) !== undefined,
    async extract(language, content) {
      const parser = parserOf(language);
      if (parser === undefined) return { symbols: [] };
      const bytes = readable(parser, content);
      const outcome = await readTags(pool, parser, bytes);
      if ('failure' in outcome) return outcome;
      const symbols = orderSymbols(locateTags(parser, language, bytes, outcome.tags));
      const unclosed = unclosedPart(parser, bytes, outcome.tags);
      return unclosed === undefined ? { symbols } : { symbols, unread: [unclosed] };
    },
    close: () => pool.close(),
  };
}

async function readTags(
  pool: ReaderPool<CtagsProcess>,
  parser: string,
  content: Buffer,
): Promise<TagsOutcome> {
  const first = await pool.use((ctags) => ctags.read(parser, content));
  if (!('failure' in first) || (first.failure !== 'crash' && first.failure !== 'memory')) {
    return first;
  }
  // Why once more: earlier contents or a single character may have killed it.
  return pool.use((ctags) => ctags.read(parser, plain(content)));
}

/** The content in a form that the parser and its JSON accept, with unchanged offsets. */
function readable(parser: string, content: Uint8Array): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (isAscii(bytes)) return bytes;
  return ASCII_PARSERS.has(parser) || !isUtf8(bytes) ? plain(bytes) : bytes;
}

/** Replaces non-ASCII bytes by underscores, which do not split identifiers; a byte order mark by spaces. */
function plain(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy[0] === 0xef && copy[1] === 0xbb && copy[2] === 0xbf) copy.fill(0x20, 0, 3);
  for (let i = 0; i < copy.length; i++) if (copy[i]! >= 0x80) copy[i] = 0x5f;
  return copy;
}
