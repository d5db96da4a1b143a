// Runs ripgrep on exactly what Trawl searches, and reads the byte ranges of all matches. Flags: --no-config,
// --no-ignore, --hidden: only the tree decides; --text, --encoding none: raw bytes, as transcoding would shift offsets;
// --multiline if a match may contain a line feed. The caller removes files known by name only. Empty matches do not
// count.

import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { canSpanLines, toRipgrep } from './dialect.ts';

/** In bytes; the end is exclusive. */
export type ByteRange = readonly [start: number, end: number];

/** Relative path with `/`; ascending; only files with a match. */
export type MatchMap = Map<string, ByteRange[]>;

export const RIPGREP_FLAGS = [
  '--no-config',
  '--no-ignore',
  '--hidden',
  '--glob=!.git',
  '--text',
  '--encoding=none',
  '--no-messages',
] as const;

export interface RipgrepOptions {
  readonly isCaseSensitive: boolean;
  /** In Trawl's syntax; absent: a literal. */
  readonly isRegex?: boolean;
  /** Absent: all paths. */
  readonly paths?: readonly string[];
  readonly rangeCountMax?: number;
}

export function caseFlag(isCaseSensitive: boolean): string {
  return isCaseSensitive ? '--case-sensitive' : '--ignore-case';
}

/** `text`, or base64 `bytes` if it is not UTF-8. */
interface JsonText {
  readonly text?: string;
  readonly bytes?: string;
}

interface JsonMatch {
  readonly type: string;
  readonly data: {
    readonly path: JsonText;
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}

/** Latin-1: a path that is not UTF-8 stays distinct, and equals none of Trawl's. */
function decodeText({ text, bytes }: JsonText): string {
  return text ?? Buffer.from(bytes ?? '', 'base64').toString('latin1');
}

/** Adds the ranges in a line of `rg --json`; returns their number. */
function addJsonLine(line: string, matches: MatchMap): number {
  if (!line.startsWith('{"type":"match"')) return 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the format is ripgrep's promise
  const { data } = JSON.parse(line) as JsonMatch;
  const path = decodeText(data.path).replace(/^\.\//, '');
  const ranges = matches.get(path) ?? [];
  const found = data.submatches.filter(({ start, end }) => end > start);
  for (const { start, end } of found) {
    ranges.push([data.absolute_offset + start, data.absolute_offset + end]);
  }
  if (ranges.length > 0) matches.set(path, ranges);
  return found.length;
}

/** Not --regexp=...: its parser drops a further `=` at the start of the value. */
function patternFlags(
  text: string,
  { isCaseSensitive, isRegex = false }: RipgrepOptions,
): string[] {
  const mode = isRegex ? (canSpanLines(text) ? ['--multiline'] : []) : ['--fixed-strings'];
  return [...mode, caseFlag(isCaseSensitive), '-e', isRegex ? toRipgrep(text) : text];
}

/**
 * Undefined: more than `rangeCountMax` ranges, or ripgrep crashes on an expression that may span lines. A literal is
 * UTF-8 without line feed and NUL. Rejects if ripgrep is not installed or refuses.
 */
export async function ripgrepAll(
  root: string,
  text: string,
  options: RipgrepOptions,
): Promise<MatchMap | undefined> {
  const { paths = ['./'], rangeCountMax = Infinity, isRegex = false } = options;
  const mayCrash = isRegex && canSpanLines(text);
  const flags = [...RIPGREP_FLAGS, '--json', ...patternFlags(text, options)];
  const child = spawn('rg', [...flags, '--', ...paths], {
    cwd: root,
    stdio: ['ignore', 'pipe', mayCrash ? 'ignore' : 'inherit'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  // The reader below may fail first; the rejection is awaited at the end.
  ended.catch(() => undefined);
  const matches: MatchMap = new Map();
  let rangeCount = 0;
  for await (const line of linesOf(child.stdout)) {
    rangeCount += addJsonLine(line, matches);
    if (rangeCount > rangeCountMax) break;
  }
  if (rangeCount > rangeCountMax) child.kill();
  const code = await ended;
  // Version 13 crashes on some matches over several lines.
  const hasCrashed = mayCrash && ![0, 1, 2].includes(code ?? -1);
  if (rangeCount > rangeCountMax || hasCrashed) return undefined;
  if (code === 2) throw new Error(`ripgrep failed on ${JSON.stringify(text)}`);
  return matches;
}

/** Why not readline: for it U+2028, which JSON may contain, ends a line too, from Node 24 on. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

export async function ripgrepFiles(root: string): Promise<string[]> {
  const child = spawn('rg', [...RIPGREP_FLAGS, '--files', '--null', './'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => parts.push(data));
  await ended;
  const names = Buffer.concat(parts).toString().split('\0');
  return names.filter((name) => name !== '').map((name) => name.replace(/^\.\//, ''));
}
