// Runs ripgrep so that it searches exactly what Trawl searches, and reads what it found: byte ranges of
// every match, by path. Used to check counts and for the differential test.
//
// Flags, and why: --no-config and --no-ignore and --hidden: nothing but the file tree decides; the glob
// leaves out git's own folder; --text and --encoding none: raw bytes, no guess about binaries, no
// transcoding of UTF-16 and no removal of a byte order mark, which would shift offsets. Files that Trawl
// knows by name only (binary, too large) are taken out by the caller. Regular expressions are translated
// (dialect.ts); those whose match may hold a line feed are searched with --multiline, whose dot still stops
// at line feeds. Empty matches do not count.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { canSpanLines, toRipgrep } from './dialect.ts';

/** Start and end (exclusive), bytes from the start of the file. */
export type ByteRange = readonly [start: number, end: number];

/** Ranges by path (relative, `/` separators), ascending; files without a match are absent. */
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
  /** Whether the text is a regular expression in Trawl's syntax; absent: a literal. */
  readonly isRegex?: boolean;
  /** Paths below the root to search; absent: all. */
  readonly paths?: readonly string[];
  /** Give up beyond this many ranges. */
  readonly rangeCountMax?: number;
}

export function caseFlag(isCaseSensitive: boolean): string {
  return isCaseSensitive ? '--case-sensitive' : '--ignore-case';
}

/** Text of ripgrep's JSON: `text`, or base64 `bytes` where it is not UTF-8. */
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

/** Why latin1 for bytes: a path that is not UTF-8 stays distinct; no answer of Trawl can equal it. */
function decodeText({ text, bytes }: JsonText): string {
  return text ?? Buffer.from(bytes ?? '', 'base64').toString('latin1');
}

/** Adds what one line of `rg --json` tells; returns the number of ranges added. */
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

/** What ripgrep is to search for. Why not --regexp=...: its parser drops a further `=` at the start of the value. */
function patternFlags(
  text: string,
  { isCaseSensitive, isRegex = false }: RipgrepOptions,
): string[] {
  const mode = isRegex ? (canSpanLines(text) ? ['--multiline'] : []) : ['--fixed-strings'];
  return [...mode, caseFlag(isCaseSensitive), '-e', isRegex ? toRipgrep(text) : text];
}

/**
 * Every non-empty range of `text` below `root`, or undefined if there are more than `rangeCountMax`, or if
 * ripgrep crashes on an expression that may span lines.
 *
 * @param text  a literal, UTF-8 without line feed and NUL, or a regular expression
 *
 * Errors: rejects if ripgrep is not installed or refuses.
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
  // Why: the reader below may end with an error first; the rejection is still awaited at the end.
  ended.catch(() => undefined);
  const matches: MatchMap = new Map();
  let rangeCount = 0;
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    rangeCount += addJsonLine(line, matches);
    if (rangeCount > rangeCountMax) break;
  }
  if (rangeCount > rangeCountMax) child.kill();
  const code = await ended;
  // Of matches over several lines version 13 cannot print all, and crashes.
  const hasCrashed = mayCrash && ![0, 1, 2].includes(code ?? -1);
  if (rangeCount > rangeCountMax || hasCrashed) return undefined;
  if (code === 2) throw new Error(`ripgrep failed on ${JSON.stringify(text)}`);
  return matches;
}

/** Paths of all files that ripgrep would search below `root`. */
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
