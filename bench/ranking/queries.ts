// The rules of the first set of queries, and the set. What could mean more than one file is omitted.

import path from 'node:path';
import { escapeLiteral } from '../dialect.ts';
import { HALVES, draw, filesOf, containsAll, isOnlyOne, know } from './draw.ts';
import { partsOfName, stemOf, words, wordsOfName } from './draw.ts';
import type { RankingQuery, Rule } from './draw.ts';
import { type Definition, isSource, mayCall, type Source, type SourceDoc } from './source.ts';

const SEED = 17;
const QUERY_COUNT = 6;

const typeName: Rule<Definition> = (facts, definition) => {
  const isFit = definition.kind === 'type' && definition.name.length > 3;
  return isFit && isOnlyOne(facts, definition)
    ? words([definition.name], definition.doc.path)
    : undefined;
};

/** Files of one folder that differ only in their ending are one. */
export const baseName: Rule<{ readonly doc: SourceDoc }> = ({ docs }, { doc: { path: file } }) => {
  const chosen = wordsOfName(stemOf(file));
  if (chosen.length < 2 || chosen.some((word) => word.length < 2)) return undefined;
  const own = docs.filter(({ path: other, isOwn }) => isOwn && isSource(other));
  const matching = own.filter(({ path: other }) =>
    containsAll(new Set(wordsOfName(stemOf(other))), chosen),
  );
  const location = path.posix.join(path.posix.dirname(file), stemOf(file));
  const isOne = matching.every(
    ({ path: other }) => path.posix.join(path.posix.dirname(other), stemOf(other)) === location,
  );
  return isOne ? words(chosen, ...matching.map((doc) => doc.path)) : undefined;
};

/** Three or four successive plain words. */
export const commentWords: Rule<Definition> = (
  { definitions },
  { doc, commentWords: all },
  random,
) => {
  const count = random() < 0.5 ? 3 : 4;
  if (all.length < count) return undefined;
  const from = Math.floor(random() * (all.length - count + 1));
  const chosen = all.slice(from, from + count);
  const isElsewhere = definitions.some(
    (other) => other.doc !== doc && containsAll(new Set(other.commentWords), chosen),
  );
  return isElsewhere ? undefined : words(chosen, doc.path);
};

export const heading: Rule<Source['headings'][number]> = ({ headings }, { doc, words: chosen }) => {
  const isFit = chosen.filter((word) => word.length > 2).length > 1 && chosen.length < 7;
  if (!isFit || chosen.some((word) => word.toLowerCase() === 'or')) return undefined;
  const small = chosen.map((word) => word.toLowerCase());
  const isElsewhere = headings.some(
    (other) =>
      other.doc !== doc &&
      containsAll(new Set(other.words.map((word) => word.toLowerCase())), small),
  );
  return isElsewhere ? undefined : words(chosen, doc.path);
};

export const wordsApart: Rule<Definition> = ({ names }, { name, doc }) => {
  const chosen = wordsOfName(name);
  const isFit = chosen.length > 1 && chosen.length < 5 && chosen.every((word) => word.length > 1);
  if (!isFit || chosen.includes('or')) return undefined;
  const isElsewhere = names.some(
    (other) => other.path !== doc.path && containsAll(other.words, chosen),
  );
  return isElsewhere ? undefined : words(chosen, doc.path);
};

const partOfName: Rule<Definition> = ({ pathsByName }, { name, doc }, random) => {
  const parts = partsOfName(name);
  if (parts.length < 2) return undefined;
  const count = 1 + Math.floor(random() * (parts.length - 1));
  const from = Math.floor(random() * (parts.length - count + 1));
  const between = parts.slice(from, from + count).join('[_$]*');
  const chosen = new RegExp(between).exec(name)?.[0] ?? '';
  if (chosen.length < 5) return undefined;
  for (const [other, paths] of pathsByName)
    if (other.includes(chosen.toLowerCase()) && (paths.size > 1 || !paths.has(doc.path)))
      return undefined;
  return words([chosen], doc.path);
};

/** Matches by path, without files that have none. */
function countIn(docs: readonly SourceDoc[], expression: RegExp): [file: string, count: number][] {
  const counts = docs.map(({ path: file, text }): [string, number] => [
    file,
    text.match(expression)?.length ?? 0,
  ]);
  return counts.filter(([, count]) => count > 0);
}

/** The defining file, or the one with the most calls. */
const whoCalls: Rule<Definition> = (facts, definition) => {
  const { name, kind, doc } = definition;
  if (kind !== 'function' || name.length < 6 || !isOnlyOne(facts, definition)) return undefined;
  const others = facts.docs.filter((other) => other !== doc && other.isOwn && mayCall(other.path));
  const counts = countIn(others, new RegExp(`\\b${escapeLiteral(name)}\\(`, 'g'));
  const [most, next] = counts.sort(([, a], [, b]) => b - a);
  return most !== undefined && most[1] > (next?.[1] ?? 0)
    ? words([name], doc.path, most[0])
    : undefined;
};

/** A defined name and as much of its line as another file has. */
const phrase: Rule<Definition> = (facts, definition) => {
  const { name, rest, doc } = definition;
  if (name.length < 4 || !isOnlyOne(facts, definition)) return undefined;
  let found: string | undefined;
  let docs = facts.docs;
  for (const { index } of rest.matchAll(/(?<=[^\s\w])|(?<=\w)\b/g)) {
    const text = rest.slice(0, index);
    if (text.length > 60) break;
    if (!/[^\w\s]/.test(text)) continue;
    const expression = new RegExp(escapeLiteral(text), 'i');
    docs = docs.filter((other) => expression.test(other.text));
    if (docs.length < 2) break;
    found = text;
  }
  return found === undefined ? undefined : { text: found, isPhrase: true, expected: [doc.path] };
};

const LITERAL = /(["'`])((?:(?!\1)[^\\\n]){20,160})\1/g;
const ERROR_WORD = /err|panic|fail|raise|throw|exception|fatal|bail|warn/i;
const PLACEHOLDER = /%[-+#\d.*]*[a-zA-Z]+|\$?\{[^}]*\}|[<>"'`]/;

export interface Message {
  readonly doc: SourceDoc;
  readonly text: string;
}

/** The longest piece without placeholders of each literal about an error that matches `chosen`. */
export function* messagesOf(doc: SourceDoc, chosen = /^/): Generator<Message> {
  for (const { index, 2: literal = '' } of doc.text.matchAll(LITERAL)) {
    const before = doc.text
      .slice(Math.max(0, index - 200), index)
      .split('\n')
      .slice(-2)
      .join('\n');
    if (!ERROR_WORD.test(before)) continue;
    const parts = literal.split(PLACEHOLDER).filter((part) => chosen.test(part));
    const [text] = parts.sort((a, b) => b.length - a.length);
    if (text !== undefined) yield { doc, text: text.trim() };
  }
}

/** Eight words at most. */
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

export function drawQueries(source: Source): RankingQuery[] {
  const options = { facts: know(source), seed: SEED, halves: HALVES };
  const { definitions, headings } = source;
  const files = filesOf(source);
  const messages = files.flatMap(({ doc }) => (doc.isOwn ? [...messagesOf(doc)] : []));
  return [
    ...draw(options, "a type's name", QUERY_COUNT, definitions, typeName),
    ...draw(options, 'words of a base name', QUERY_COUNT, files, baseName),
    ...draw(options, 'words of a comment', QUERY_COUNT, definitions, commentWords),
    ...draw(options, 'heading of a document', QUERY_COUNT, headings, heading),
    ...draw(options, "a name's words apart", QUERY_COUNT, definitions, wordsApart),
    ...draw(options, 'part of a name', QUERY_COUNT, definitions, partOfName),
    ...draw(options, 'who calls', QUERY_COUNT, definitions, whoCalls),
    ...draw(options, 'phrase with punctuation', QUERY_COUNT, definitions, phrase),
    ...draw(options, 'error message', QUERY_COUNT, messages, errorMessage),
  ];
}
