// An agent without a model: a fixed strategy over any toolbox. It looks for a name of the question, else for lines with
// two of its words, then with one, and reads two files around the best lines. If nothing was found it follows the
// result's hint. It pays for what it reads.

import { addToList } from '../../daemon/base/lists.ts';

export type Location =
  | { readonly path: string; readonly line: number; readonly content?: string }
  | { readonly commit: string };

export interface Reading {
  /** The call and the answer. */
  readonly text: string;
  /** The best first. */
  readonly locations: readonly Location[];
  /** A pattern that the result says finds something. */
  readonly next?: string | undefined;
}

export interface Toolbox {
  readonly name: string;
  /** It reads files whole. */
  readonly isWhole: boolean;
  /** A regular expression, any case, in all files or one. */
  search(repo: string, pattern: string, path?: string): Promise<Reading>;
  define(repo: string, name: string): Promise<Reading>;
  refer(repo: string, name: string): Promise<Reading>;
  /** A basic regular expression in the message, any case. */
  commits(repo: string, pattern: string): Promise<Reading>;
  show(repo: string, commit: string): Promise<Reading>;
  /** Of a long file at least the lines from `line`; `isAgain`: the first call has not shown the line. */
  read(repo: string, path: string, line: number, isAgain: boolean): Promise<Reading>;
}

export interface Walk {
  readonly calls: readonly string[];
  readonly text: string;
  readonly locations: readonly Location[];
}

/** Searches that find something, and all of them. */
const SEARCHES = 2;
const SEARCHES_MAX = 6;
const FILES_READ = 2;
/** Calls per file: the next shows lines that one omits. */
const READS = 2;
/** Words of a question, two at a time, and in a file. */
const WORDS_MAX = 4;
const WORDS_IN_FILE = 6;

const STOP_WORDS = new Set(
  (
    'where which what who how does do is are was were the a an of in on to by for from with that this when its it be and or not ' +
    'nor there has have made make makes said say than then over after before many large deep much some other another may line ' +
    'commit changed added fixed uses used calls call called defined declared stand stands whose wherever'
  ).split(' '),
);

/** Errors: those of the toolbox. */
export async function walk(toolbox: Toolbox, repo: string, question: string): Promise<Walk> {
  const walker = new Walker(toolbox, repo);
  await walker.run(question);
  return walker;
}

class Walker implements Walk {
  readonly calls: string[] = [];
  readonly locations: Location[] = [];
  text = '';
  readonly #toolbox: Toolbox;
  readonly #repo: string;

  constructor(toolbox: Toolbox, repo: string) {
    this.#toolbox = toolbox;
    this.#repo = repo;
  }

  async run(question: string): Promise<void> {
    const name = /`([^`]+)`/.exec(question)?.[1]?.replace(/^struct /, '');
    if (/^which commit/i.test(question)) await this.#findCommit(question);
    else if (name === undefined)
      await this.#readFiles(
        await this.#findWords(question),
        wordCounter(question),
        patternOf(question),
      );
    else await this.#findAndRead(name, isAboutUse(question));
  }

  async #findCommit(question: string): Promise<void> {
    for (const pattern of patternsFor(
      question,
      ({ first, second }) => `${first}.*${second}\\|${second}.*${first}`,
    )) {
      const found = await this.#take(`commits ${pattern}`, (box, repo) =>
        box.commits(repo, pattern),
      );
      const [commit] = found;
      if (commit === undefined || !('commit' in commit)) continue;
      await this.#take(`show ${commit.commit}`, (box, repo) => box.show(repo, commit.commit));
      return;
    }
  }

  async #findAndRead(name: string, isUse: boolean): Promise<void> {
    const found = isUse
      ? await this.#take(`refer ${name}`, (box, repo) => box.refer(repo, name))
      : await this.#take(`define ${name}`, (box, repo) => box.define(repo, name));
    const locations = found.length > 0 ? found : await this.#search(`\\b${name}\\b`);
    const definition = definitionOf(name);
    await this.#readFiles(locations, (content) => Number(definition.test(content) !== isUse));
  }

  async #findWords(question: string): Promise<readonly Location[]> {
    const locations: Location[] = [];
    let searchCount = 0;
    for (const pattern of patternsFor(question, either)) {
      const found = await this.#search(pattern);
      if (found.length > 0) searchCount++;
      locations.push(...found);
      if (searchCount === SEARCHES || this.calls.length >= SEARCHES_MAX) break;
    }
    return locations;
  }

  async #search(pattern: string, path?: string): Promise<readonly Location[]> {
    const what = path === undefined ? `search ${pattern}` : `look into ${path}`;
    return await this.#take(what, (box, repo) => box.search(repo, pattern, path));
  }

  /** By number of matches, each where they are densest first; `pattern`: for a file that is not read whole. */
  async #readFiles(
    locations: readonly Location[],
    scoreOf: (content: string) => number,
    pattern?: string,
  ): Promise<void> {
    for (const file of filesOf(locations, scoreOf).slice(0, FILES_READ)) {
      const hasSearched = pattern !== undefined && !this.#toolbox.isWhole;
      const found = hasSearched ? await this.#search(pattern, file.path) : [];
      await this.#readFile(file.path, [...file.lines, ...scored(found, scoreOf)]);
    }
  }

  async #readFile(path: string, lines: readonly ScoredLine[]): Promise<void> {
    let remaining = lines;
    for (let count = 0; count < READS && remaining.length > 0; count++) {
      const line = bestStart(remaining);
      const read = await this.#take(`read ${path} ${line}`, (box, repo) =>
        box.read(repo, path, line, count > 0),
      );
      const numbers = new Set(read.map((location) => ('path' in location ? location.line : 0)));
      remaining = remaining.filter((one) => one.line !== line && !numbers.has(one.line));
    }
  }

  /** A call, and the one that its result suggests. */
  async #take(
    what: string,
    call: (toolbox: Toolbox, repo: string) => Promise<Reading>,
  ): Promise<readonly Location[]> {
    const { locations, next } = await this.#call(what, call);
    return next === undefined || locations.length > 0 ? locations : await this.#search(next);
  }

  async #call(
    what: string,
    call: (toolbox: Toolbox, repo: string) => Promise<Reading>,
  ): Promise<Reading> {
    if (this.calls.length >= 10) return { text: '', locations: [] };
    this.calls.push(what);
    const reading = await call(this.#toolbox, this.#repo);
    this.text += reading.text;
    this.locations.push(...reading.locations);
    return reading;
  }
}

function isAboutUse(question: string): boolean {
  return /\b(?:calls|uses|throws|returned|checked)\b/.test(question);
}

/** A definition of a name in the languages of the questions. */
function definitionOf(name: string): RegExp {
  const words = 'function|class|struct|type|const|interface|#define|func(?: \\([^)]*\\))?';
  return new RegExp(`(?:${words})\\s+${name}\\b|^\\w[\\w\\s*]*\\b${name}\\(.*[^;]$`);
}

function wordCounter(question: string): (content: string) => number {
  const words = wordsOf(question, WORDS_MAX);
  return (content) => {
    const line = content.toLowerCase();
    return words.filter((word) => line.includes(word)).length;
  };
}

/** Lines that are read together, about. */
const WINDOW_LINES = 80;

interface ScoredLine {
  readonly line: number;
  readonly score: number;
}

interface ScoredFile {
  readonly path: string;
  readonly lines: readonly ScoredLine[];
}

function scored(
  locations: readonly Location[],
  scoreOf: (content: string) => number,
): ScoredLine[] {
  return locations.flatMap((location) =>
    'path' in location ? [{ line: location.line, score: scoreOf(location.content ?? '') }] : [],
  );
}

/** Read last: no question is about it. */
const ASIDE = /(?:^|[/_.])tests?[/_.]|\.md$/;

/** The one with the best line first. */
function filesOf(
  locations: readonly Location[],
  scoreOf: (content: string) => number,
): ScoredFile[] {
  const byPath = new Map<string, Location[]>();
  for (const location of locations)
    if ('path' in location) addToList(byPath, location.path, location);
  const files = [...byPath].map(([path, own]) => ({ path, lines: scored(own, scoreOf) }));
  const best = ({ lines }: ScoredFile): number => Math.max(...lines.map(({ score }) => score));
  const aside = ({ path }: ScoredFile): number => Number(ASIDE.test(path));
  return files.toSorted((a, b) => aside(a) - aside(b) || best(b) - best(a));
}

function bestStart(lines: readonly ScoredLine[]): number {
  const sumFrom = (start: number): number =>
    lines.reduce((sum, { line, score }) => {
      const isRead = line >= start && line < start + WINDOW_LINES;
      return isRead ? sum + score * score : sum;
    }, 0);
  const [first] = lines.toSorted((a, b) => sumFrom(b.line) - sumFrom(a.line));
  return first?.line ?? 1;
}

interface Pair {
  readonly first: string;
  readonly second: string;
}

function sizeOf({ first, second }: Pair): number {
  return first.length + second.length;
}

function either({ first, second }: Pair): string {
  return `${first}.*${second}|${second}.*${first}`;
}

function patternOf(question: string): string {
  return pairsOf(wordsOf(question, WORDS_IN_FILE)).map(either).join('|');
}

/** For pairs of words, the longest first, then for each word. */
function patternsFor(question: string, both: (pair: Pair) => string): string[] {
  const words = wordsOf(question, WORDS_MAX);
  const pairs = pairsOf(words).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return [...pairs.map(both), ...words];
}

function pairsOf(words: readonly string[]): Pair[] {
  return words.flatMap((first, index) =>
    words.slice(index + 1).map((second) => ({ first, second })),
  );
}

/** The longest words are the rarest; without their endings. */
function wordsOf(question: string, countMax: number): string[] {
  const words = (question.toLowerCase().match(/[a-z]+/g) ?? [])
    .filter((word) => word.length > 2 && !STOP_WORDS.has(word))
    .map((word) => word.replace(/(?:ies|es|s|ed|ing)$/, '').replace(/(.)\1$/, '$1'));
  const once = [...new Set(words)].filter((word) => word.length > 2);
  return once.sort((a, b) => b.length - a.length).slice(0, countMax);
}
