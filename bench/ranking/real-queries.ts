// A harder set, after what people type: half of a name, folder and file, path and content, wrong letter case. From
// trees that the score was not tuned on; what could mean more than one file is omitted.

import path from 'node:path';
import { escapeLiteral } from '../dialect.ts';
import type { Random } from '../samples.ts';
import { HALVES, draw, filesOf, containsAll, isOnlyOne, know } from './draw.ts';
import { stemOf, words, wordsOfName } from './draw.ts';
import type { RankingQuery, Rule } from './draw.ts';
import { type Message, messagesOf, wordsApart } from './queries.ts';
import { type Definition, isSource, type Source, type SourceDoc } from './source.ts';

const SEED = 45;
const QUERY_COUNT = 8;

/** Half of a tree has these in its path. */
const COMMON_PATH_WORDS: ReadonlySet<string> = new Set(
  'src lib main java org com net index init mod internal pkg core common util utils'.split(' '),
);

function isTyped(word: string): boolean {
  return word.length > 2 && !COMMON_PATH_WORDS.has(word);
}

function wordsOfPath(file: string): string[] {
  return [...path.posix.dirname(file).split('/'), stemOf(file)].flatMap(wordsOfName);
}

function wordsOfFolder(file: string): string[] {
  return wordsOfName(path.posix.basename(path.posix.dirname(file)));
}

/** Without endings: the same for a header and its source. */
function locationOf(file: string): string {
  return path.posix.join(path.posix.dirname(file), stemOf(file));
}

function oneOf<T>(items: readonly T[], random: Random): T | undefined {
  return items[Math.floor(random() * items.length)];
}

function neighbours<T>(list: readonly T[], count: number, random: Random): T[] {
  const from = Math.floor(random() * (list.length - count + 1));
  return list.slice(from, from + count);
}

/** Half or more of a name, but no end of a word. */
export const halfOfName: Rule<Definition> = ({ pathsByName }, { name, doc }, random) => {
  const size = Math.ceil(name.length * (0.5 + 0.25 * random()));
  const typed = name.slice(0, size);
  if (size < 5 || !/[a-z]{2}$/.test(typed) || !/^[a-z]/.test(name.slice(size))) return undefined;
  const small = typed.toLowerCase();
  for (const [other, paths] of pathsByName)
    if (other.startsWith(small) && (paths.size > 1 || !paths.has(doc.path))) return undefined;
  return words([typed], doc.path);
};

/** `json loader` for `json/loader.py`. */
export const folderAndBase: Rule<{ readonly doc: SourceDoc }> = ({ docs }, { doc }) => {
  const folder = wordsOfFolder(doc.path);
  const base = wordsOfName(stemOf(doc.path));
  const chosen = [...new Set([...folder, ...base])];
  const isFit = folder.length > 0 && base.length > 0 && chosen.every(isTyped);
  if (!isFit || base.every((word) => folder.includes(word)) || chosen.length > 5) return undefined;
  const matching = docs.filter(
    ({ path: other, isOwn }) =>
      isOwn && isSource(other) && containsAll(new Set(wordsOfPath(other)), chosen),
  );
  const isOne = matching.every(({ path: other }) => locationOf(other) === locationOf(doc.path));
  return isOne ? words(chosen, ...matching.map((one) => one.path)) : undefined;
};

/** Words of a folder or base name, and one or two of a name that the file defines. */
export const pathAndContent: Rule<Definition> = ({ names }, { name, doc }, random) => {
  const parts = [wordsOfFolder(doc.path), wordsOfName(stemOf(doc.path))];
  const ofPath = oneOf(
    parts.filter((part) => part.length > 0 && part.length < 3 && part.every(isTyped)),
    random,
  );
  if (ofPath === undefined) return undefined;
  const own = new Set(wordsOfPath(doc.path));
  const ofContent = wordsOfName(name)
    .filter((word) => isTyped(word) && !own.has(word))
    .slice(0, 2);
  if (ofContent.length === 0) return undefined;
  const isElsewhere = names.some(
    (other) =>
      other.path !== doc.path &&
      containsAll(other.words, ofContent) &&
      containsAll(new Set(wordsOfPath(other.path)), ofPath),
  );
  const chosen = random() < 0.5 ? [...ofPath, ...ofContent] : [...ofContent, ...ofPath];
  return isElsewhere ? undefined : words(chosen, doc.path);
};

/** A name that others may have, and words of its comment. */
export const commentAndName: Rule<Definition> = ({ definitions }, definition, random) => {
  const { name, doc } = definition;
  const own = wordsOfName(name);
  const all = definition.commentWords.filter((word) => !own.includes(word));
  const count = random() < 0.5 ? 1 : 2;
  if (name.length < 3 || all.length < count) return undefined;
  const chosen = neighbours(all, count, random);
  const small = name.toLowerCase();
  const isElsewhere = definitions.some(
    (other) =>
      other.doc !== doc &&
      other.name.toLowerCase() === small &&
      containsAll(new Set(other.commentWords), chosen),
  );
  if (isElsewhere) return undefined;
  return words(random() < 0.5 ? [name, ...chosen] : [...chosen, name], doc.path);
};

/** Eight words at most, a number among them. */
export const messageWithNumber: Rule<Message> = ({ docs }, { doc, text }) => {
  const chosen = (text.match(/\w+/g) ?? []).slice(0, 8);
  const isProse = text.replaceAll(/[\w .,:'/-]/g, '').length < 2;
  const isFit = isProse && chosen.filter((word) => /^[A-Za-z]{2,}$/.test(word)).length > 2;
  if (!isFit || !chosen.some((word) => /^\d/.test(word)) || chosen.includes('or')) return undefined;
  const expression = new RegExp(escapeLiteral(text), 'i');
  const isElsewhere = docs.some(
    (other) => other !== doc && other.isOwn && expression.test(other.text),
  );
  return isElsewhere ? undefined : words(chosen, doc.path);
};

const CASES: readonly ((name: string) => string)[] = [
  (name) => name.toLowerCase(),
  (name) => name.toUpperCase(),
  (name) => name.charAt(0).toUpperCase() + name.slice(1).toLowerCase(),
];

/** Lower case, upper case, or capitalized. */
export const wrongCase: Rule<Definition> = (facts, definition, random) => {
  const { name, doc } = definition;
  if (name.length < 5 || !isOnlyOne(facts, definition)) return undefined;
  const typed = oneOf(CASES, random)?.(name);
  return typed === undefined || typed === name ? undefined : words([typed], doc.path);
};

export const wordsOfHeading: Rule<Source['headings'][number]> = ({ headings }, one, random) => {
  const all = one.words.map((word) => word.toLowerCase());
  const count = 2 + Math.floor(random() * 3);
  if (all.length <= count || all.length > 9) return undefined;
  const chosen = neighbours(all, count, random);
  if (chosen.filter((word) => word.length > 3).length < 2 || chosen.includes('or'))
    return undefined;
  const isElsewhere = headings.some(
    ({ doc, words: others }) =>
      doc !== one.doc && containsAll(new Set(others.map((word) => word.toLowerCase())), chosen),
  );
  return isElsewhere ? undefined : words(chosen, one.doc.path);
};

export function drawRealQueries(source: Source): RankingQuery[] {
  const options = { facts: know(source), seed: SEED, halves: HALVES };
  const { definitions, headings } = source;
  const files = filesOf(source);
  const messages = files.flatMap(({ doc }) => (doc.isOwn ? [...messagesOf(doc, /\d/)] : []));
  return [
    ...draw(options, 'half of a name', QUERY_COUNT, definitions, halfOfName),
    ...draw(options, 'folder and base name', QUERY_COUNT, files, folderAndBase),
    ...draw(options, 'word of a path and of the content', QUERY_COUNT, definitions, pathAndContent),
    ...draw(options, 'words of a comment and a name', QUERY_COUNT, definitions, commentAndName),
    ...draw(options, 'error message with a number', QUERY_COUNT, messages, messageWithNumber),
    ...draw(options, 'name in the wrong letter case', QUERY_COUNT, definitions, wrongCase),
    ...draw(options, "a name's words apart", QUERY_COUNT, definitions, wordsApart),
    ...draw(options, 'words of a heading', QUERY_COUNT, headings, wordsOfHeading),
  ];
}
