// Linguist's data as tables: languages by name and alias, by file name, by extension, by interpreter. Loaded at first use
// from the file that the build wrote (scripts/languages.mjs). Apart from the rules of languages.ts, which searches do without.

import { readFileSync } from 'node:fs';
import { builtFile } from '../../base/program-files.ts';

interface LanguageTables {
  /** Name as linguist spells it, `Objective-C++`, by name, alias, and both with `-` for spaces; lower case. */
  readonly byName: ReadonlyMap<string, string>;
  /** Candidates ordered by name; keys are case-sensitive. */
  readonly byFileName: ReadonlyMap<string, readonly string[]>;
  /** Keys with the dot, lower case. */
  readonly byExtension: ReadonlyMap<string, readonly string[]>;
  readonly byInterpreter: ReadonlyMap<string, readonly string[]>;
}

type Row = readonly [
  name: string,
  extensions: readonly string[],
  fileNames: readonly string[],
  interpreters: readonly string[],
  aliases: readonly string[],
];

const DATA_FILE = builtFile('languages.json');

let tables: LanguageTables | undefined;

/** The tables; loaded by the first call (2 to 4 ms). Errors: an error of the file system if the build is incomplete. */
export function languageTables(): LanguageTables {
  // Safety: our own build wrote the file, in this form.
  tables ??= buildTables(JSON.parse(readFileSync(DATA_FILE, 'utf8')));
  return tables;
}

/** The language of a person's input: name or alias, ignoring case, `-` for spaces allowed. */
export function resolveLanguage(text: string): string | undefined {
  return languageTables().byName.get(text.trim().toLowerCase());
}

function buildTables(rows: readonly Row[]): LanguageTables {
  const byName = new Map<string, string>();
  const byFileName = new Map<string, string[]>();
  const byExtension = new Map<string, string[]>();
  const byInterpreter = new Map<string, string[]>();
  for (const [name, extensions, fileNames, interpreters] of rows) {
    addName(byName, name, name);
    for (const extension of extensions) addCandidate(byExtension, extension.toLowerCase(), name);
    for (const fileName of fileNames) addCandidate(byFileName, fileName, name);
    for (const interpreter of interpreters) addCandidate(byInterpreter, interpreter, name);
  }
  // Why last: a language's name beats another one's alias.
  for (const [name, , , , aliases] of rows)
    for (const alias of aliases) addName(byName, alias, name);
  return { byName, byFileName, byExtension, byInterpreter };
}

function addName(byName: Map<string, string>, text: string, language: string): void {
  for (const key of [text.toLowerCase(), text.toLowerCase().replaceAll(' ', '-')])
    if (!byName.has(key)) byName.set(key, language);
}

function addCandidate(table: Map<string, string[]>, key: string, name: string): void {
  const candidates = table.get(key);
  if (candidates === undefined) table.set(key, [name]);
  else if (!candidates.includes(name)) candidates.push(name);
}
