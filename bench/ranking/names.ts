// Names of functions, structs and macros of a C tree, drawn with a seed, each with its defining files: the server's
// symbols, checked against the text. Each name in range is equally likely, however often it is used.

import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readSettings } from '../../daemon/base/config/settings.ts';
import { search, type SearchClient } from '../client.ts';
import { quotePattern } from '../cases.ts';
import { seededRandom, shuffled } from '../samples.ts';
import { pathsBelow } from './source.ts';

export interface DefinedName {
  readonly name: string;
  readonly kind: DefinedKind;
  /** One or two. */
  readonly files: readonly string[];
}

const DEFINED_KINDS = ['function', 'struct', 'macro'] as const;
type DefinedKind = (typeof DEFINED_KINDS)[number];

export interface NameDraw {
  readonly root: string;
  readonly seed: number;
  readonly count: number;
  readonly except?: ReadonlySet<string> | undefined;
}

const FILE_SIZE_MAX = readSettings().maxFileSize;
const C_FILE = String.raw`file:\.[ch]$`;
const SLOT_BITS = 26;

/** 1: begins a name; 2: only continues one. */
const BYTE_KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z_]/.test(character)) return 1;
  return /\d/.test(character) ? 2 : 0;
});

export interface UseRange {
  readonly countMin: number;
  readonly countMax: number;
  /** What one driver alone uses is found too easily. */
  readonly fileCountMin: number;
}

const USES: UseRange = { countMin: 50, countMax: 50_000, fileCountMin: 20 };

/** By slot: names in one of 64 million slots are counted together. */
class UseCounter {
  readonly #counts = new Uint32Array(1 << SLOT_BITS);
  readonly #fileCounts = new Uint16Array(1 << SLOT_BITS);
  readonly #lastFiles = new Uint32Array(1 << SLOT_BITS);
  readonly #found: { readonly name: string; readonly slot: number }[] = [];
  readonly #range: UseRange;
  #fileCount = 0;

  constructor(range: UseRange) {
    this.#range = range;
  }

  countFile(bytes: Buffer): void {
    this.#fileCount++;
    for (let at = 0; at < bytes.length; at++) {
      const start = at;
      let hash = 0x811c9dc5;
      for (; BYTE_KINDS[bytes[at] ?? 0] !== 0; at++)
        hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      if (at - start < 3 || BYTE_KINDS[bytes[start] ?? 0] !== 1) continue;
      const slot = (hash ^ (hash >>> 15)) >>> (32 - SLOT_BITS);
      this.#count(slot);
      if (this.#counts[slot] === this.#range.countMin)
        this.#found.push({ name: bytes.toString('latin1', start, at), slot });
    }
  }

  #count(slot: number): void {
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
    if (this.#lastFiles[slot] === this.#fileCount) return;
    this.#lastFiles[slot] = this.#fileCount;
    this.#fileCounts[slot] = Math.min(65_535, (this.#fileCounts[slot] ?? 0) + 1);
  }

  /** Of names in one slot the first with enough uses. */
  names(): string[] {
    const { countMax, fileCountMin } = this.#range;
    const inRange = this.#found.filter(
      ({ slot }) =>
        (this.#counts[slot] ?? 0) <= countMax && (this.#fileCounts[slot] ?? 0) >= fileCountMin,
    );
    return inRange.map(({ name }) => name).sort();
  }
}

/** Throws if a file cannot be read. Cost: one read of the tree, 640 MiB. */
export function namesInUse(root: string, range: UseRange): string[] {
  const counter = new UseCounter(range);
  for (const file of pathsBelow(root)) {
    const full = path.join(root, file);
    if (lstatSync(full).size > FILE_SIZE_MAX) continue;
    const bytes = readFileSync(full);
    if (!bytes.includes(0)) counter.countFile(bytes);
  }
  return counter.names();
}

/** Without comments and quoted texts, from `at` on. */
function codeFrom(text: string, at: number): string {
  const chunk = text.slice(at, at + 4000);
  return chunk.replaceAll(/\/\*[^]*?(?:\*\/|$)|\/\/.*|"(?:[^"\\\n]|\\.)*"/g, ' ');
}

/** A definition, not only a declaration. */
export function isDefinition(text: string, at: number, name: string, kind: string): boolean {
  const rest = codeFrom(text, at + name.length);
  if (kind === 'macro') return /^[ \t]*#[ \t]*define[ \t]+$/m.test(lineBefore(text, at));
  if (kind === 'struct' || kind === 'union' || kind === 'enum') return /^[^;(){}=]*\{/.test(rest);
  if (kind === 'function') return /^\s*\([^;{}]*\)[^;{}=]*\{/.test(rest);
  return true;
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
}

/** By path, members too, without mere declarations. */
async function definitionsOf(
  client: SearchClient,
  root: string,
  name: string,
): Promise<Map<string, Set<string>>> {
  const body = {
    query: `${C_FILE} sym:${quotePattern(`^${name}$`)}`,
    // More than a name with two defining files has.
    matches: 1000,
    isCaseSensitivityEnabled: true,
  };
  const { files } = await search(client, JSON.stringify(body));
  const kindsByPath = new Map<string, Set<string>>();
  for (const { fileName, chunks } of files) {
    const text = readFileSync(path.join(root, fileName.text), 'latin1');
    const kinds = new Set<string>();
    for (const { matchRanges, symbols } of chunks)
      for (const [i, { start }] of matchRanges.entries()) {
        const kind = symbols?.[i]?.kind ?? '';
        if (isDefinition(text, start.byteOffset, name, kind)) kinds.add(kind);
      }
    if (kinds.size > 0) kindsByPath.set(fileName.text, kinds);
  }
  return kindsByPath;
}

/** Undefined: another kind, or too many defining files. */
async function lookUp(
  client: SearchClient,
  root: string,
  name: string,
): Promise<DefinedName | undefined> {
  const kindsByPath = await definitionsOf(client, root, name);
  const kind = DEFINED_KINDS.find((one) => [...kindsByPath.values()].some((has) => has.has(one)));
  if (kind === undefined || kindsByPath.size > 2) return undefined;
  const right = [...kindsByPath].filter(([, has]) => DEFINED_KINDS.some((one) => has.has(one)));
  return { name, kind, files: right.map(([file]) => file).sort() };
}

/** At least `countMin` uses as a whole word in this case. */
async function isUsed(client: SearchClient, name: string, countMin: number): Promise<boolean> {
  const body = {
    query: quotePattern(`\\b${name}\\b`),
    matches: countMin,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  };
  const { stats } = await search(client, JSON.stringify(body));
  return stats.totalMatchCount >= countMin;
}

/** Fewer than `count` if the tree has no more. Rejects if a file cannot be read, or a request fails. */
export async function drawNames(
  client: SearchClient,
  { root, seed, count, except = new Set() }: NameDraw,
): Promise<DefinedName[]> {
  const drawn: DefinedName[] = [];
  for (const name of shuffled(namesInUse(root, USES), seededRandom(seed))) {
    if (drawn.length === count) break;
    if (except.has(name)) continue;
    const defined = await lookUp(client, root, name);
    if (defined !== undefined && (await isUsed(client, name, USES.countMin))) drawn.push(defined);
  }
  return drawn;
}
