// The queries of a tree, each with the files that are meant: drawn with a seed by a rule for each class, so that nobody
// chooses what a search engine is asked for. What more than one file could be meant by is left out. One half is for tuning;
// which half a query is in, a hash of it decides.

import { createHash } from 'node:crypto';
import path from 'node:path';
import { escapeLiteral } from '../dialect.ts';
import { seededRandom, shuffled } from '../samples.ts';
import type { Random } from '../samples.ts';
import { isSource, mayCall } from './source.ts';
import type { Definition, Source, SourceDoc } from './source.ts';

export const QUERY_CLASSES = [
  "a type's name",
  'words of a base name',
  'words of a comment',
  'heading of a document',
  "a name's words apart",
  'part of a name',
  'who calls',
  'phrase with punctuation',
  'error message',
] as const;
export type QueryClass = (typeof QUERY_CLASSES)[number];

export const HALVES = ['tune', 'report'] as const;
export type Half = (typeof HALVES)[number];

/** What is asked for: words, or one phrase as it stands. */
export interface Asked {
  readonly text: string;
  readonly isPhrase: boolean;
  /** Paths; any of them is right. */
  readonly meant: readonly string[];
}

export interface RankingQuery extends Asked {
  /** Name of the repo. */
  readonly tree: string;
  readonly class: QueryClass;
  readonly half: Half;
}

const SEED = 17;
/** Queries of a class and tree. */
const QUERY_COUNT = 6;
/** Tries of a class and tree: some rules read the whole tree in each. */
const TRY_COUNT_MAX = 400;

/** A source with what the rules look up in it. */
interface Known extends Source {
  /** Paths that define a name, by the name in small letters. */
  readonly pathsByName: ReadonlyMap<string, ReadonlySet<string>>;
  /** Words of each name and the path of a definition, each pair once. */
  readonly names: readonly { readonly words: ReadonlySet<string>; readonly path: string }[];
}

/** Nothing where the rule does not fit. */
type Rule<T> = (known: Known, one: T, random: Random) => Asked | undefined;

/** Parts of a name as it is spelled: `HTTPServer_name2` has `HTTP`, `Server`, `name2`. */
export function partsOfName(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+/g) ?? [];
}

function wordsOfName(name: string): string[] {
  return partsOfName(name).map((word) => word.toLowerCase());
}

function know(source: Source): Known {
  const pathsByName = new Map<string, Set<string>>();
  const names: { words: Set<string>; path: string }[] = [];
  for (const { name, doc } of source.definitions) {
    const paths = pathsByName.get(name.toLowerCase()) ?? new Set();
    pathsByName.set(name.toLowerCase(), paths);
    if (!paths.has(doc.path)) names.push({ words: new Set(wordsOfName(name)), path: doc.path });
    paths.add(doc.path);
  }
  return { ...source, pathsByName, names };
}

function words(list: readonly string[], ...meant: string[]): Asked {
  return { text: list.join(' '), isPhrase: false, meant };
}

function isOnlyOne({ pathsByName }: Known, { name }: Definition): boolean {
  return pathsByName.get(name.toLowerCase())?.size === 1;
}

function holdsAll(words: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return wanted.every((word) => words.has(word));
}

const typeName: Rule<Definition> = (known, definition) => {
  const isFit = definition.kind === 'type' && definition.name.length > 3;
  return isFit && isOnlyOne(known, definition)
    ? words([definition.name], definition.doc.path)
    : undefined;
};

function stemOf(file: string): string {
  const base = path.posix.basename(file);
  return base.slice(0, base.indexOf('.', 1) < 0 ? undefined : base.indexOf('.', 1));
}

/** Files of one folder that differ in their ending alone are one: `hash.c` and `hash.h`. */
const baseName: Rule<{ readonly doc: SourceDoc }> = ({ docs }, { doc: { path: file } }) => {
  const wanted = wordsOfName(stemOf(file));
  if (wanted.length < 2 || wanted.some((word) => word.length < 2)) return undefined;
  const own = docs.filter(({ path: other, isOwn }) => isOwn && isSource(other));
  const named = own.filter(({ path: other }) =>
    holdsAll(new Set(wordsOfName(stemOf(other))), wanted),
  );
  const place = path.posix.join(path.posix.dirname(file), stemOf(file));
  const isOne = named.every(
    ({ path: other }) => path.posix.join(path.posix.dirname(other), stemOf(other)) === place,
  );
  return isOne ? words(wanted, ...named.map((doc) => doc.path)) : undefined;
};

/** Three or four plain words that follow one another. */
const commentWords: Rule<Definition> = ({ definitions }, { doc, commentWords: all }, random) => {
  const count = random() < 0.5 ? 3 : 4;
  if (all.length < count) return undefined;
  const from = Math.floor(random() * (all.length - count + 1));
  const wanted = all.slice(from, from + count);
  const isElsewhere = definitions.some(
    (other) => other.doc !== doc && holdsAll(new Set(other.commentWords), wanted),
  );
  return isElsewhere ? undefined : words(wanted, doc.path);
};

const heading: Rule<Source['headings'][number]> = ({ headings }, { doc, words: wanted }) => {
  const isFit = wanted.filter((word) => word.length > 2).length > 1 && wanted.length < 7;
  if (!isFit || wanted.some((word) => word.toLowerCase() === 'or')) return undefined;
  const small = wanted.map((word) => word.toLowerCase());
  const isElsewhere = headings.some(
    (other) =>
      other.doc !== doc && holdsAll(new Set(other.words.map((word) => word.toLowerCase())), small),
  );
  return isElsewhere ? undefined : words(wanted, doc.path);
};

const wordsApart: Rule<Definition> = ({ names }, { name, doc }) => {
  const wanted = wordsOfName(name);
  const isFit = wanted.length > 1 && wanted.length < 5 && wanted.every((word) => word.length > 1);
  if (!isFit || wanted.includes('or')) return undefined;
  const isElsewhere = names.some(
    (other) => other.path !== doc.path && holdsAll(other.words, wanted),
  );
  return isElsewhere ? undefined : words(wanted, doc.path);
};

/** Parts of a name that has more, as it spells them. */
const partOfName: Rule<Definition> = ({ pathsByName }, { name, doc }, random) => {
  const parts = partsOfName(name);
  if (parts.length < 2) return undefined;
  const count = 1 + Math.floor(random() * (parts.length - 1));
  const from = Math.floor(random() * (parts.length - count + 1));
  const between = parts.slice(from, from + count).join('[_$]*');
  const wanted = new RegExp(between).exec(name)?.[0] ?? '';
  if (wanted.length < 5) return undefined;
  for (const [other, paths] of pathsByName)
    if (other.includes(wanted.toLowerCase()) && (paths.size > 1 || !paths.has(doc.path)))
      return undefined;
  return words([wanted], doc.path);
};

/** How often an expression matches in files, by path, without those where it does not. */
function countIn(docs: readonly SourceDoc[], expression: RegExp): [file: string, count: number][] {
  const counts = docs.map(({ path: file, text }): [string, number] => [
    file,
    text.match(expression)?.length ?? 0,
  ]);
  return counts.filter(([, count]) => count > 0);
}

/** The file that defines a function, or the one that calls it most. */
const whoCalls: Rule<Definition> = (known, definition) => {
  const { name, kind, doc } = definition;
  if (kind !== 'function' || name.length < 6 || !isOnlyOne(known, definition)) return undefined;
  const others = known.docs.filter((other) => other !== doc && other.isOwn && mayCall(other.path));
  const counts = countIn(others, new RegExp(`\\b${escapeLiteral(name)}\\(`, 'g'));
  const [most, next] = counts.sort(([, a], [, b]) => b - a);
  return most !== undefined && most[1] > (next?.[1] ?? 0)
    ? words([name], doc.path, most[0])
    : undefined;
};

const PHRASE_SIZE_MAX = 60;

/** A defined name with as much of what follows it on its line as another file has too. */
const phrase: Rule<Definition> = (known, definition) => {
  const { name, rest, doc } = definition;
  if (name.length < 4 || !isOnlyOne(known, definition)) return undefined;
  let found: string | undefined;
  let docs = known.docs;
  for (const { index } of rest.matchAll(/(?<=[^\s\w])|(?<=\w)\b/g)) {
    const text = rest.slice(0, index);
    if (text.length > PHRASE_SIZE_MAX) break;
    if (!/[^\w\s]/.test(text)) continue;
    const expression = new RegExp(escapeLiteral(text), 'i');
    docs = docs.filter((other) => expression.test(other.text));
    if (docs.length < 2) break;
    found = text;
  }
  return found === undefined ? undefined : { text: found, isPhrase: true, meant: [doc.path] };
};

const LITERAL = /(["'`])((?:(?!\1)[^\\\n]){20,160})\1/g;
const ERROR_WORD = /err|panic|fail|raise|throw|exception|fatal|bail|warn/i;
const PLACEHOLDER = /%[-+#\d.*]*[a-zA-Z]+|\$?\{[^}]*\}|[<>"'`]/;

interface Message {
  readonly doc: SourceDoc;
  readonly text: string;
}

/** The longest piece without placeholders of each literal on or below a line that speaks of an error. */
function* messagesOf(doc: SourceDoc): Generator<Message> {
  for (const { index, 2: literal = '' } of doc.text.matchAll(LITERAL)) {
    const before = doc.text
      .slice(Math.max(0, index - 200), index)
      .split('\n')
      .slice(-2)
      .join('\n');
    if (!ERROR_WORD.test(before)) continue;
    const pieces = literal.split(PLACEHOLDER).sort((a, b) => b.length - a.length);
    yield { doc, text: (pieces[0] ?? '').trim() };
  }
}

/** Its words, eight at most. */
const errorMessage: Rule<Message> = ({ docs }, { doc, text }) => {
  const all = text.match(/[A-Za-z]{2,}/g) ?? [];
  if (all.length < 4 || all.some((word) => word.toLowerCase() === 'or')) return undefined;
  if (text.replaceAll(/[A-Za-z .,:]/g, '').length > 3) return undefined;
  const expression = new RegExp(escapeLiteral(text), 'i');
  const isElsewhere = docs.some(
    (other) => other !== doc && other.isOwn && expression.test(other.text),
  );
  return isElsewhere ? undefined : words(all.slice(0, 8), doc.path);
};

function hashOf(...parts: readonly string[]): number {
  return createHash('sha256').update(parts.join('\n')).digest().readUInt32BE();
}

/** The queries of one class; no file is meant by two of them. */
function draw<T extends { readonly doc: SourceDoc }>(
  known: Known,
  queryClass: QueryClass,
  items: readonly T[],
  rule: Rule<T>,
): RankingQuery[] {
  const { name: tree } = known.tree;
  const random = seededRandom(hashOf(String(SEED), tree, queryClass));
  const own = items.filter(({ doc }) => doc.isOwn);
  const seen = new Set<string>();
  const queries: RankingQuery[] = [];
  for (const one of shuffled(own, random).slice(0, TRY_COUNT_MAX)) {
    if (queries.length === QUERY_COUNT) break;
    const asked = rule(known, one, random);
    if (asked === undefined || asked.meant.some((file) => seen.has(file))) continue;
    for (const file of asked.meant) seen.add(file);
    const half = HALVES[hashOf(tree, queryClass, asked.text) % HALVES.length] ?? 'tune';
    queries.push({ tree, class: queryClass, half, ...asked });
  }
  return queries;
}

/** The queries of a tree: the same each time, as long as the tree is. */
export function drawQueries(source: Source): RankingQuery[] {
  const known = know(source);
  const { definitions, headings } = source;
  const files = source.docs.filter((doc) => isSource(doc.path)).map((doc) => ({ doc }));
  const messages = files.flatMap(({ doc }) => (doc.isOwn ? [...messagesOf(doc)] : []));
  return [
    ...draw(known, "a type's name", definitions, typeName),
    ...draw(known, 'words of a base name', files, baseName),
    ...draw(known, 'words of a comment', definitions, commentWords),
    ...draw(known, 'heading of a document', headings, heading),
    ...draw(known, "a name's words apart", definitions, wordsApart),
    ...draw(known, 'part of a name', definitions, partOfName),
    ...draw(known, 'who calls', definitions, whoCalls),
    ...draw(known, 'phrase with punctuation', definitions, phrase),
    ...draw(known, 'error message', messages, errorMessage),
  ];
}

/** Tells sets of queries apart. */
export function digestOf(queries: readonly RankingQuery[]): string {
  return createHash('sha256').update(JSON.stringify(queries)).digest('hex').slice(0, 12);
}
