// The ctags engine: sandboxed processes that read contents from standard input and write tags as lines of JSON. A process has no
// option files, limits on memory and processor time, and cannot open files. A content that kills two processes fails; the
// others continue.

import { isAscii, isUtf8 } from 'node:buffer';
import { type Child, killChild } from '../../base/spawn.ts';
import { findPrograms, outputOf, startEngine, watchTime } from './confine.ts';
import { ASCII_PARSERS, CTAGS_PARSERS, ctagsParserOf } from './ctags-languages.ts';
import { locateTags, type Tag, unclosedPart } from './ctags-tags.ts';
import { type Engine, type EngineLimits, type ExtractionFailure, orderSymbols } from './found.ts';
import { ReaderPool } from './pool.ts';

export function openCtagsEngine(program: CtagsProgram, options: EngineLimits): Engine {
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
  pool: ReaderPool<CtagsProcess>,
  parser: string,
  content: Buffer,
): Promise<TagsOutcome> {
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

type TagsOutcome = { readonly tags: readonly Tag[] } | ExtractionFailure;

interface Request {
  readonly tags: Tag[];
  outputMax: number;
  readonly endWatch: () => void;
  readonly settle: (outcome: TagsOutcome) => void;
}

/** Reads one content at a time. Dead after a failure. */
class CtagsProcess {
  readonly #child: Child;
  readonly #program: CtagsProgram;
  readonly #limits: EngineLimits;
  /** The incomplete last line. */
  #rest = '';
  #request: Request | undefined;
  #message = '';
  #isDead = false;
  readonly #ended: Promise<void>;

  constructor(program: CtagsProgram, limits: EngineLimits) {
    this.#program = program;
    this.#limits = limits;
    const { child, ended } = start(program, limits);
    this.#child = child;
    this.#ended = ended.then((detail) => this.#noteEnd(detail));
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Errors: none; failures are outcomes. */
  read(parser: string, content: Uint8Array): Promise<TagsOutcome> {
    const index = this.#program.parsers.indexOf(parser);
    return new Promise((settle) => {
      const { timeoutMs } = this.#limits;
      const endWatch = watchTime(this.#child, timeoutMs, () =>
        this.#fail({ failure: 'timeout', detail: `time limit of ${timeoutMs} ms exceeded` }),
      );
      // Bound: 32 times the content, at least 32 MiB.
      const outputMax = 32 * Math.max(1 << 20, content.length);
      this.#request = { tags: [], outputMax, endWatch, settle };
      const filename = `a.${endingOf(index)}`;
      const command = { command: 'generate-tags', filename, size: content.length };
      this.#child.stdin.cork();
      this.#child.stdin.write(`${JSON.stringify(command)}\n`);
      this.#child.stdin.write(content);
      this.#child.stdin.uncork();
    });
  }

  #take(text: string): void {
    if (this.#request !== undefined) {
      this.#request.outputMax -= text.length;
      if (this.#request.outputMax < 0) return this.#failOutput();
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > 1 << 20) return this.#failOutput();
    for (const line of lines) this.#takeLine(line);
  }

  #failOutput(): void {
    this.#fail({ failure: 'output', detail: 'too many or too long symbols' });
  }

  #takeLine(line: string): void {
    const said = parseLine(line);
    if (said.type === 'tag') this.#request?.tags.push(said.tag);
    else if (said.type === 'completed') this.#settle({ tags: this.#request?.tags ?? [] });
    else if (said.type === 'error') this.#message = said.message;
  }

  #settle(outcome: TagsOutcome): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    request.endWatch();
    request.settle(outcome);
  }

  #noteEnd(detail: string): void {
    this.#isDead = true;
    const isMemory = /out of memory|cannot allocate/i.test(this.#message);
    const said = this.#message === '' ? detail : `${this.#message} (${detail})`;
    this.#settle({ failure: isMemory ? 'memory' : 'crash', detail: `ctags ${said}` });
  }

  #fail(failure: ExtractionFailure): void {
    this.#isDead = true;
    killChild(this.#child);
    this.#child.stdout.destroy();
    this.#settle(failure);
  }

  /** Ends the process; resolves when it has exited. A running read fails. */
  async close(): Promise<void> {
    this.#fail({ failure: 'crash', detail: 'closed' });
    await this.#ended;
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
