// Questions about three real repositories, answered by an agent without a model with our tools and a shell's: the cost,
// and whether the answer was read. Half are for tuning, half are reported. Repositories: bench/README.md.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIndex, findSymbols, startDaemon } from './daemon.ts';
import { type Location, type Toolbox, walk, type Walk } from './questions/agent.ts';
import { shellToolbox } from './questions/shell-toolbox.ts';
import { openTrawl } from './questions/trawl-toolbox.ts';
import { seededRandom } from './samples.ts';
import { type Column, formatTable } from '../daemon/cli/bench/statistics.ts';

const SEED = 16;
/** Bytes. Source: what model vendors state for English and code. */
const TOKEN_SIZE = 4;
const REPOS = ['go', 'linux-kernel', 'trawl'] as const;

interface AnswerLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface Question {
  readonly repo: string;
  readonly ask: string;
  /** All are required. */
  readonly locations?: readonly AnswerLine[];
  readonly commit?: string;
}

interface Outcome {
  readonly question: Question;
  readonly walk: Walk;
  readonly isFound: boolean;
}

function readQuestions(folder: string): Question[] {
  const data = fileURLToPath(new URL('../../bench/questions/', import.meta.url));
  return REPOS.flatMap((repo) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own data
    const questions = JSON.parse(
      readFileSync(path.join(data, `${repo}.json`), 'utf8'),
    ) as readonly Omit<Question, 'repo'>[];
    for (const { locations = [] } of questions)
      for (const location of locations) checkLine(path.join(folder, repo), location);
    return questions.map((question) => ({ ...question, repo }));
  });
}

/** Errors: the tree is not the one of the questions. */
function checkLine(root: string, { path: file, line, text }: AnswerLine): void {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  if (lines[line - 1]?.trim() !== text)
    throw new Error(`${file}:${String(line)} of ${root} is not: ${text}`);
}

function isFound({ locations = [], commit }: Question, found: readonly Location[]): boolean {
  const keys = new Set(found.map(keyOf));
  const requested: Location[] = commit === undefined ? [...locations] : [{ commit }];
  return requested.every((location) => keys.has(keyOf(location)));
}

function keyOf(location: Location): string {
  return 'commit' in location ? location.commit : `${location.path}:${String(location.line)}`;
}

async function answerAll(toolbox: Toolbox, questions: readonly Question[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const question of questions) {
    const taken = await walk(toolbox, question.repo, question.ask);
    outcomes.push({ question, walk: taken, isFound: isFound(question, taken.locations) });
  }
  return outcomes;
}

/** At random, but always the same halves. */
function halvesOf<Item>(items: readonly Item[]): readonly [Item[], Item[]] {
  const random = seededRandom(SEED);
  const drawn = items.map((item) => ({ item, lot: random() })).sort((a, b) => a.lot - b.lot);
  const middle = Math.floor(items.length / 2);
  const some = drawn.map(({ item }) => item);
  return [some.slice(0, middle), some.slice(middle)];
}

const COLUMNS: readonly Column[] = [
  { title: 'Tools', align: 'left' },
  { title: 'Tokens', align: 'right' },
  { title: 'median', align: 'right' },
  { title: 'Calls', align: 'right' },
  { title: 'Found', align: 'right' },
];

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

function rowOf(name: string, outcomes: readonly Outcome[]): string[] {
  const tokens = outcomes.map(tokensOf).sort((a, b) => a - b);
  const calls = sum(outcomes.map(({ walk: { calls } }) => calls.length)) / outcomes.length;
  const found = outcomes.filter((one) => one.isFound).length;
  return [
    name,
    String(Math.round(sum(tokens) / tokens.length)),
    String(tokens[Math.floor(tokens.length / 2)] ?? 0),
    calls.toFixed(1),
    `${String(found)} of ${String(outcomes.length)}`,
  ];
}

function tokensOf({ walk: { text } }: Outcome): number {
  return Math.round(Buffer.byteLength(text) / TOKEN_SIZE);
}

function writeEach(name: string, outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    const { question, walk: taken } = outcome;
    const head = `${outcome.isFound ? 'found ' : 'MISSED'} ${String(tokensOf(outcome)).padStart(6)}`;
    process.stdout.write(`${head} ${name} ${question.repo}: ${question.ask}\n`);
    for (const call of taken.calls) process.stdout.write(`         ${call}\n`);
  }
}

async function report(
  toolboxes: readonly Toolbox[],
  questions: readonly Question[],
  isEach: boolean,
): Promise<void> {
  const rows: string[][] = [];
  for (const toolbox of toolboxes) {
    const outcomes = await answerAll(toolbox, questions);
    if (isEach) writeEach(toolbox.name, outcomes);
    rows.push(rowOf(toolbox.name, outcomes));
  }
  process.stdout.write(`${formatTable(COLUMNS, rows)}\n`);
}

async function main([folder, ...flags]: readonly string[]): Promise<void> {
  if (folder === undefined) throw new Error('usage: questions.js FOLDER [--each] [--tuning]');
  const questions = readQuestions(folder);
  const [tuning, reported] = halvesOf(questions);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trawl-questions-'));
  const sources = REPOS.map((repo) => path.resolve(folder, repo));
  await buildIndex(sources, dataDir);
  await findSymbols(sources, dataDir);
  const daemon = await startDaemon(sources, dataDir);
  try {
    const trawl = await openTrawl(daemon.url, (repo) => `local/${repo}`);
    const shells = (['cat', 'sed'] as const).map((reader) => shellToolbox(folder, reader));
    const isEach = flags.includes('--each');
    process.stdout.write(
      `${String(questions.length)} questions; the list of tools has ${String(Math.round(trawl.listSize / TOKEN_SIZE))} tokens\n\n`,
    );
    process.stdout.write('Half for tuning\n');
    await report([trawl, ...shells], tuning, isEach);
    if (!flags.includes('--tuning')) {
      process.stdout.write('The other half\n');
      await report([trawl, ...shells], reported, false);
    }
    await trawl.close();
  } finally {
    await daemon.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
