// Finds the symbols of contents with the engine for their language: ctags where it is installed and safe, tree-sitter and
// patterns for what they read better. If an engine fails, the next is tried. A language without an engine has no symbols.

import { findCtags, openCtagsEngine } from './ctags.ts';
import {
  type Engine,
  type EngineLimits,
  type Extraction,
  type FoundSymbol,
  mergeSymbols,
} from './found.ts';
import { parserVersion } from './grammars.ts';
import { openPatternEngine } from './patterns.ts';
import { languageWithin, scriptOf } from './scripts.ts';
import { openTreeSitterEngine } from './tree-sitter.ts';

export const ENGINE_NAMES = ['ctags', 'tree-sitter', 'patterns'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

export interface ExtractorOptions {
  readonly concurrency: number;
  readonly fileTimeoutMs: number;
  /** Memory limit of one process or thread, bytes. */
  readonly fileMemoryMax: number;
  readonly engines?: readonly EngineName[];
}

export interface Extractor {
  /**
   * The symbols of one content, which must not change meanwhile; `language` as linguist spells it. Errors: none for problems
   * with the content; rejects once closed.
   */
  extract(language: string, content: Uint8Array): Promise<Extraction>;
  readonly engines: readonly EngineName[];
  /** The first engine to try; undefined: the language has no symbols here. */
  engineOf(language: string): EngineName | undefined;
  close(): Promise<void>;
}

/** Languages that other engines read better. Measured: daemon/DECISIONS.md, 2026-11-28, ctags 5.9. */
const CTAGS_LAST: ReadonlySet<string> = new Set(
  (
    'C#,Clojure,Elixir,Go,GraphQL,HCL,Haskell,JSX,Java,JavaScript,Kotlin,Lua,PHP,PLpgSQL,Protocol Buffer,' +
    'Python,Ruby,Rust,SQL,SQLPL,Starlark,TSQL,TSX,TypeScript'
  ).split(','),
);

/** Languages where `_` declares nothing. */
const BLANK_LANGUAGES: ReadonlySet<string> = new Set(['Go', 'Rust']);

export async function openExtractor(options: ExtractorOptions): Promise<Extractor> {
  const engines = await openEngines(options);
  const enginesFor = (language: string): readonly EngineEntry[] => {
    const found = engines.filter(({ engine }) => engine.knows(language));
    if (CTAGS_LAST.has(language) && found[0]?.name === 'ctags') found.push(found.shift()!);
    return found;
  };
  return {
    async extract(fileLanguage, fileContent) {
      const { language, content } = scriptOf(fileLanguage, fileContent);
      if (content.length === 0) return { symbols: [] };
      const extraction = await extractWith(enginesFor(language), language, content);
      return BLANK_LANGUAGES.has(language) ? withoutBlanks(extraction, content) : extraction;
    },
    engines: engines.map(({ name }) => name),
    engineOf: (language) => enginesFor(languageWithin(language))[0]?.name,
    async close() {
      await Promise.all(engines.map(({ engine }) => engine.close()));
    },
  };
}

/** Tries one engine after the other; the next may read parts that the first could not. */
async function extractWith(
  [first, ...others]: readonly EngineEntry[],
  language: string,
  content: Uint8Array,
): Promise<Extraction> {
  if (first === undefined) return { symbols: [] };
  const extraction = await first.engine.extract(language, content);
  if ('symbols' in extraction && extraction.unread === undefined) return extraction;
  if (others.length === 0) return extraction;
  const next = await extractWith(others, language, content);
  if ('failure' in next) return extraction;
  return 'failure' in extraction
    ? { failedEngine: `${first.name} failed: ${extraction.detail}`, ...next }
    : { ...extraction, symbols: mergeSymbols(extraction, next.symbols) };
}

function withoutBlanks(extraction: Extraction, content: Uint8Array): Extraction {
  if (!('symbols' in extraction)) return extraction;
  const isBlank = ({ start, size }: FoundSymbol): boolean => size === 1 && content[start] === 0x5f;
  return { ...extraction, symbols: extraction.symbols.filter((symbol) => !isBlank(symbol)) };
}

export interface EngineInfo {
  readonly name: EngineName;
  /** As reported by the engine, with its path if it is not bundled: `5.9.0 /usr/bin/ctags`. */
  readonly version: string;
}

/** Available engines except patterns, in order of preference. Cost: starts processes, some 10 ms. */
export async function enginesHere(): Promise<EngineInfo[]> {
  const ctags = await findCtags();
  const tree = parserVersion();
  const infos: EngineInfo[] = [];
  if (ctags !== undefined)
    infos.push({ name: 'ctags', version: `${ctags.version} ${ctags.command.join(' ')}` });
  if (tree !== undefined) infos.push({ name: 'tree-sitter', version: tree });
  return infos;
}

interface EngineEntry {
  readonly name: EngineName;
  readonly engine: Engine;
}

async function openEngines(options: ExtractorOptions): Promise<EngineEntry[]> {
  const { concurrency, fileTimeoutMs: timeoutMs, fileMemoryMax: memoryMax } = options;
  const limits = { concurrency, timeoutMs, memoryMax };
  const engines: EngineEntry[] = [];
  for (const name of options.engines ?? ENGINE_NAMES) {
    const engine = await openEngine(name, limits);
    if (engine !== undefined) engines.push({ name, engine });
  }
  return engines;
}

async function openEngine(name: EngineName, limits: EngineLimits): Promise<Engine | undefined> {
  if (name === 'patterns') return openPatternEngine();
  if (name === 'tree-sitter') return openTreeSitterEngine(limits);
  const program = await findCtags();
  return program === undefined ? undefined : openCtagsEngine(program, limits);
}
