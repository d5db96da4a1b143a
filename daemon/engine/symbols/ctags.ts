// The ctags engine: sandboxed processes that read contents from standard input and write tags as lines of JSON. A process has no
// option files, limits on memory and processor time, and cannot open files. A content that kills two processes fails; the
// others continue.

import { isAscii, isUtf8 } from 'node:buffer';
import { findPrograms, outputOf, startEngine } from './confine.ts';
import { ASCII_PARSERS, CTAGS_PARSERS, ctagsParserOf } from './ctags-languages.ts';
import { locateTags, type Tag, unclosedPart } from './ctags-tags.ts';
import { EngineProcess, ProcessPool } from './engine-process.ts';
import { type Engine, type EngineLimits, type ExtractionFailure, orderSymbols } from './found.ts';

export function openCtagsEngine(program: CtagsProgram, options: EngineLimits): Engine {
  const pool = new ProcessPool(options.concurrency, () => new CtagsProcess(program, options));
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
      const original = Buffer.from(content.buffer, content.byteOffset, content.length);
      const bytes = readable(parser, original);
      const outcome = await readTags(pool, parser, bytes);
      if ('failure' in outcome) return outcome;
      const symbols = orderSymbols(locateTags(parser, language, bytes, outcome.tags, original));
      const unclosed = unclosedPart(parser, bytes, outcome.tags);
      return unclosed === undefined ? { symbols } : { symbols, unread: [unclosed] };
    },
    close: () => pool.close(),
  };
}

async function readTags(
  pool: ProcessPool<CtagsProcess>,
  parser: string,
  content: Buffer,
): Promise<Tags | ExtractionFailure> {
  const first = await pool.use((ctags) => ctags.read(parser, content));
  if (!('failure' in first) || (first.failure !== 'crash' && first.failure !== 'memory'))
    return first;
  // Why once more: earlier contents or a single character may have killed it.
  return pool.use((ctags) => ctags.read(parser, plain(content)));
}

/** The content in a form that the parser and its JSON accept, with unchanged offsets. */
function readable(parser: string, bytes: Buffer): Buffer {
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

/** Extension of the made-up file name that selects the parser at this index. */
function endingOf(index: number): string {
  return `trawl${index}`;
}

interface CtagsProgram {
  /** The command before ctags' own options. */
  readonly command: readonly string[];
  readonly version: string;
  /** Names of its parsers; a parser's index determines its extension. */
  readonly parsers: readonly string[];
}

/**
 * The first ctags that has JSON and a working sandbox; undefined if there is none. Cost: starts a process for each file with
 * such a name, and two more, some 10 ms.
 */
export async function findCtags(searchPath?: string): Promise<CtagsProgram | undefined> {
  // Another program may have the first name.
  const names = ['ctags', 'ctags-universal', 'universal-ctags', 'uctags'];
  for (const file of findPrograms(names, searchPath)) {
    const program = await asProgram(file);
    if (program !== undefined) return program;
  }
  return undefined;
}

async function asProgram(file: string): Promise<CtagsProgram | undefined> {
  const features = await outputOf(file, ['--options=NONE', '--list-features']);
  if (features === undefined) return undefined;
  const names = new Set(features.split('\n').map((line) => line.split(' ', 1)[0]));
  // Why the sandbox is required: parsers in C read untrusted files.
  if (!['interactive', 'json', 'sandbox'].every((name) => names.has(name))) return undefined;
  const languages = (await outputOf(file, ['--options=NONE', '--list-languages'])) ?? '';
  const parsers = languages.split('\n').filter((line) => CTAGS_PARSERS.has(line));
  const version = (await outputOf(file, ['--options=NONE', '--version'])) ?? '';
  return { command: [file], version: /[\d.]+/.exec(version)?.[0] ?? '', parsers };
}

interface Tags {
  readonly tags: readonly Tag[];
}

class CtagsProcess extends EngineProcess<Tags> {
  readonly #program: CtagsProgram;
  /** The incomplete last line. */
  #rest = '';
  /** Of the running request. */
  #tags: Tag[] = [];
  #outputMax = Infinity;
  #message = '';

  constructor(program: CtagsProgram, limits: EngineLimits) {
    super(start(program, limits), limits.timeoutMs);
    this.#program = program;
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  read(parser: string, content: Uint8Array): Promise<Tags | ExtractionFailure> {
    this.#tags = [];
    // Bound: 32 times the content, at least 32 MiB.
    this.#outputMax = 32 * Math.max(1 << 20, content.length);
    const filename = `a.${endingOf(this.#program.parsers.indexOf(parser))}`;
    const command = { command: 'generate-tags', filename, size: content.length };
    const { stdin } = this.child;
    return this.request(() => {
      stdin.cork();
      stdin.write(`${JSON.stringify(command)}\n`);
      stdin.write(content);
      stdin.uncork();
    });
  }

  #take(text: string): void {
    this.#outputMax -= text.length;
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#outputMax < 0 || this.#rest.length > 1 << 20)
      this.end({ failure: 'output', detail: 'too many or too long symbols' });
    else for (const line of lines) this.#takeLine(line);
  }

  #takeLine(line: string): void {
    const said = parseLine(line);
    if (said.type === 'tag') this.#tags.push(said.tag);
    else if (said.type === 'completed') this.settle({ tags: this.#tags });
    else if (said.type === 'error') this.#message = said.message;
  }

  protected override crashOf(detail: string): ExtractionFailure {
    const isMemory = /out of memory|cannot allocate/i.test(this.#message);
    const said = this.#message === '' ? detail : `${this.#message} (${detail})`;
    return { failure: isMemory ? 'memory' : 'crash', detail: `ctags ${said}` };
  }
}

type Said =
  | { readonly type: 'tag'; readonly tag: Tag }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'completed' | 'other' };

interface Line extends Partial<Tag> {
  readonly _type?: unknown;
  readonly message?: unknown;
}

function parseLine(line: string): Said {
  let parsed: Line | null;
  try {
    parsed = JSON.parse(line);
  } catch {
    return { type: 'other' };
  }
  const { _type: type, name, line: lineNumber, kind, message } = parsed ?? {};
  if (type === 'completed') return { type };
  if (type === 'error') return { type, message: String(message) };
  const isTag =
    type === 'tag' &&
    typeof name === 'string' &&
    typeof lineNumber === 'number' &&
    typeof kind === 'string';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: the members that must be there are.
  return isTag ? { type, tag: parsed as Tag } : { type: 'other' };
}

function start(
  { command, parsers }: CtagsProgram,
  { timeoutMs, memoryMax }: EngineLimits,
): ReturnType<typeof startEngine> {
  const maps = parsers.map((parser, index) => `--map-${parser}=+.${endingOf(index)}`);
  const options = ['--options=NONE', '--quiet=yes', '--fields=Nnzspte', ...maps];
  const cpuSecondsMax = Math.max(60, Math.ceil(timeoutMs / 250));
  const all = [...command, ...options, '--_interactive=sandbox'];
  return startEngine(all, { memoryMax, cpuSecondsMax });
}
