// Detects the language of a doc by the linguist data set: editor modelines, file name, extension (longest first),
// interpreter of a script. An extension that several languages claim is decided by content, interpreter, neighbouring files
// (`.h`), and a table of defaults.

import { behindMark } from '../../base/utf8-text.ts';
import { baseNameOf, folderOf } from '../../base/paths.ts';
import { languageTables, resolveLanguage } from './language-data.ts';
import { EXTENSION_DEFAULTS } from './language-defaults.ts';
import { languageByContent } from './language-rules.ts';

/** Bytes at the start that rules may search. */
const HEAD_SIZE = 4096;

/**
 * Folder -> language of its headers, for folders whose own sources are all C or all C++. A plain map: may be posted to a
 * worker.
 */
export type HeaderFolders = ReadonlyMap<string, 'C' | 'C++'>;

const NO_FOLDERS: HeaderFolders = new Map();

const FILE_NAME_DEFAULTS: Readonly<Record<string, string>> = {
  HOSTS: 'Hosts File',
  hosts: 'Hosts File',
  '.eslintrc': 'JSON with Comments',
  '.releaserc': 'JSON',
};

const INTERPRETER_DEFAULTS: Readonly<Record<string, string>> = {
  bun: 'TypeScript',
  deno: 'TypeScript',
  lua: 'Lua',
  node: 'JavaScript',
  ocaml: 'OCaml',
  parrot: 'Parrot Assembly',
  perl: 'Perl',
  perl6: 'Raku',
};

const defaultByExtension = new Map(
  Object.entries(EXTENSION_DEFAULTS).flatMap(([name, extensions]) =>
    extensions.split(' ').map((extension): [string, string] => [extension, name]),
  ),
);

/**
 * Language of a doc, as linguist spells it; "" if unknown. Cost: 3 µs unless the extension is ambiguous; then up to 4
 * KiB are searched.
 */
export function detectLanguage(
  path: string,
  content: Uint8Array,
  headerFolders: HeaderFolders = NO_FOLDERS,
): string {
  return saidLanguage(content) ?? languageOfPath(path, content, headerFolders);
}

/** The language named by a modeline, if linguist knows it, whatever the path. */
export function saidLanguage(content: Uint8Array): string | undefined {
  for (const name of modelineNames(content)) {
    const language = resolveLanguage(name);
    if (language !== undefined) return language;
  }
  return undefined;
}

/** As `detectLanguage`, without modelines. */
export function languageOfPath(
  path: string,
  content: Uint8Array,
  headerFolders: HeaderFolders,
): string {
  const head = behindMark(content);
  const { byFileName, byExtension } = languageTables();
  const baseName = baseNameOf(path);
  const languages = byFileName.get(baseName);
  if (languages !== undefined) return FILE_NAME_DEFAULTS[baseName] ?? languages[0] ?? '';
  const lowered = baseName.toLowerCase();
  for (let dot = lowered.indexOf('.'); dot >= 0; dot = lowered.indexOf('.', dot + 1)) {
    const extension = lowered.slice(dot);
    const candidates = byExtension.get(extension);
    if (candidates === undefined) continue;
    if (candidates.length === 1) return candidates[0] ?? '';
    return chooseCandidate(path, extension, candidates, head, headerFolders);
  }
  return scriptLanguages(head)?.[0] ?? '';
}

function chooseCandidate(
  path: string,
  extension: string,
  candidates: readonly string[],
  head: Uint8Array,
  headerFolders: HeaderFolders,
): string {
  if (extension === '.h') {
    const byFolder = headerFolders.get(folderOf(path));
    if (byFolder !== undefined) return byFolder;
  }
  // By convention a source in capitals is for the C preprocessor.
  if (path.endsWith('.S') && candidates.includes('Unix Assembly')) return 'Unix Assembly';
  const byInterpreter = scriptLanguages(head)?.find((name) => candidates.includes(name));
  if (byInterpreter !== undefined) return byInterpreter;
  const byContent = languageByContent(extension, candidates, textOf(head));
  return byContent ?? defaultByExtension.get(extension) ?? candidates[0] ?? '';
}

/** One character per byte: the patterns are ASCII. */
function textOf(head: Uint8Array): string {
  const size = Math.min(head.length, HEAD_SIZE);
  return Buffer.from(head.buffer, head.byteOffset, size).toString('latin1');
}

/** Languages of the interpreter in the `#!` line, the usual one first. */
function scriptLanguages(head: Uint8Array): readonly string[] | undefined {
  if (head[0] !== 0x23 || head[1] !== 0x21) return undefined;
  const line = textOf(head.subarray(0, 256)).split('\n', 1)[0] ?? '';
  const words = line.slice(2).trim().split(/\s+/);
  let name = baseNameOf(words.shift() ?? '');
  // `env` may have options and assignments before the interpreter: `env -S A=b node`.
  if (name === 'env') name = baseNameOf(words.find((word) => !/^-|=/.test(word)) ?? '');
  const { byInterpreter } = languageTables();
  // `python3.11` counts as `python3`, then as `python`.
  for (const form of [name, name.replace(/\.\d+$/, ''), name.replace(/[\d.]+$/, '')]) {
    const candidates = byInterpreter.get(form);
    if (candidates === undefined) continue;
    const usual = INTERPRETER_DEFAULTS[form];
    return usual === undefined
      ? candidates
      : [usual, ...candidates.filter((other) => other !== usual)];
  }
  return undefined;
}

/** Names of sources that decide the language of headers: C, Objective-C, or C++. */
export const SOURCE_NAME = /\.(?:(c)|cc|cpp|cxx|c\+\+|(mm?))$/i;

/** Whether a path's language depends on the sources beside it. */
export function isHeader(path: string): boolean {
  return path.toLowerCase().endsWith('.h');
}

/** Finds folders whose own sources decide the language of their headers. Cost: one pass over the paths. */
export function findHeaderFolders(paths: Iterable<string>): HeaderFolders {
  const folders = new Map<string, 'C' | 'C++' | 'mixed'>();
  for (const path of paths) {
    const source = SOURCE_NAME.exec(path);
    if (source === null) continue;
    const language = source[2] !== undefined ? 'mixed' : source[1] !== undefined ? 'C' : 'C++';
    const folder = folderOf(path);
    const cached = folders.get(folder);
    folders.set(folder, cached === undefined || cached === language ? language : 'mixed');
  }
  const clear = new Map<string, 'C' | 'C++'>();
  for (const [folder, language] of folders) if (language !== 'mixed') clear.set(folder, language);
  return clear;
}

/** Lines at each end that are read for modelines; each end has HEAD_SIZE bytes at most. */
const LINE_COUNT = 5;

const EMACS = /-\*-(.+?)-\*-/;
/** Source: Vim's `:help modeline`: `vim:`, `vim600:`, `vi:`, and `ex:` after a blank; `set` may follow. */
const VIM = /(?:^|[ \t])(?:(?:[Vv]im|vi)(?:[<=>]?\d+)?|(?<=[ \t])ex):[ \t]*(.*)/;
const VIM_TYPE = /(?:^|[\s:])(?:filetype|ft|syntax|syn)=([\w+#-]+)/;

/**
 * Languages named by the modelines of a whole content, the most trusted first; editors' names, not linguist's. Cost: 2
 * µs if there is none.
 */
function modelineNames(bytes: Uint8Array): string[] {
  const head = textOf(bytes);
  const isWhole = bytes.length <= HEAD_SIZE;
  const tail = isWhole ? head : textOf(bytes.subarray(-HEAD_SIZE));
  if (!hasMark(head) && (isWhole || !hasMark(tail))) return [];
  const lines = [
    ...head.split('\n').slice(0, LINE_COUNT),
    ...tail.replace(/\n+$/, '').split('\n').slice(-LINE_COUNT),
  ];
  return [...lines.flatMap(emacsMode), ...lines.flatMap(vimType)];
}

function hasMark(text: string): boolean {
  return text.includes('-*-') || /\b(?:[Vv]im?|ex)(?:[<=>]?\d+)?:/.test(text);
}

function emacsMode(line: string): string[] {
  const inner = EMACS.exec(line)?.[1]?.trim();
  if (inner === undefined) return [];
  if (!inner.includes(':')) return [inner];
  const mode = /(?:^|;)\s*mode\s*:\s*([^\s;]+)/i.exec(inner)?.[1];
  return mode === undefined ? [] : [mode];
}

function vimType(line: string): string[] {
  const type = VIM_TYPE.exec(VIM.exec(line)?.[1] ?? '')?.[1];
  return type === undefined ? [] : [type];
}
