// Experiment X8: how long do answers about history take, what does a commit graph of ours give, and what git itself
// takes. On a history of 100,000 commits made here (2,000 files in 100 folders, a merge every 20 commits, 300 authors,
// one file of 3,000 lines that 500 commits changed), or on any repository. Each row asks for other paths, then for
// the same ones again, whose answers are kept.
//   node build/bench/experiments/x8-history.js [REPOSITORY PATH...]

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runGit, startGit } from '../../daemon/sources/git/git.ts';
import { History, type HistoryTarget } from '../../daemon/sources/history/history.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { seededRandom } from '../samples.ts';
import { formatMs, formatTable, summarizeLatency } from '../../daemon/cli/bench/statistics.ts';

const COMMIT_COUNT = 100_000;
const FOLDER_COUNT = 100;
const FILES_EACH = 20;
const AUTHOR_COUNT = 300;
const MERGE_EVERY = 20;
const LARGE_FILE = 'large.txt';
const LARGE_LINES = 3000;
const LARGE_CHANGES = 500;
const PATH_COUNT = 20;
const NEVER = new AbortController().signal;
const COLUMNS = ['question', 'git itself p50', 'p50', 'p95', 'again p50', 'again p95'];

const random = seededRandom(8);
const pick = (count: number): number => Math.floor(random() * count);

function fileName(): string {
  // Squared: some files change often, most do not.
  const folder = Math.floor(random() ** 2 * FOLDER_COUNT);
  return `folder${folder}/file${pick(FILES_EACH)}.txt`;
}

const largeLines = Array.from({ length: LARGE_LINES }, (_, i) => `line ${i}`);

function fileText(index: number): string {
  return Array.from({ length: 20 }, () => `word${pick(1000)} ${index}`).join('\n');
}

function changeOf(name: string, text: string): string {
  return `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

function commitText(index: number): string {
  const author = pick(AUTHOR_COUNT);
  const isMerge = index % MERGE_EVERY === MERGE_EVERY - 1;
  const branch = index % MERGE_EVERY < 5 && index >= MERGE_EVERY ? 'side' : 'main';
  const who = `Author ${author} <author${author}@example.com> ${1_500_000_000 + index * 600} +0000`;
  const message = `commit ${index}: word${pick(1000)}\n\nbody ${index}\n`;
  const start = branch === 'side' && index % MERGE_EVERY === 0 ? 'from refs/heads/main\n' : '';
  const merge = isMerge && index > MERGE_EVERY ? 'merge refs/heads/side\n' : '';
  const changes = Array.from({ length: 1 + pick(3) }, () => changeOf(fileName(), fileText(index)));
  if (branch === 'main' && index % Math.floor(COMMIT_COUNT / LARGE_CHANGES) === 10) {
    for (let i = 0; i < 6; i++) largeLines[pick(LARGE_LINES)] = `line of commit ${index}`;
    changes.push(changeOf(LARGE_FILE, `${largeLines.join('\n')}\n`));
  }
  const head = `commit refs/heads/${branch}\nauthor ${who}\ncommitter ${who}\n`;
  return `${head}data ${Buffer.byteLength(message)}\n${message}${start}${merge}${changes.join('')}\n`;
}

async function makeRepository(folder: string): Promise<void> {
  await runGit(['init', '-q', '--bare', '-b', 'main', folder]);
  const git = startGit(['fast-import', '--quiet'], { repoPath: folder, timeoutMs: 0 });
  for (let index = 0; index < COMMIT_COUNT; index++)
    if (!git.stdin.write(commitText(index))) await once(git.stdin, 'drain');
  git.stdin.end();
  git.stdout.resume();
  await git.ended;
}

async function elapsedMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function samplePaths(repoPath: string): Promise<string[]> {
  const args = [
    'log',
    '--format=',
    '--name-only',
    '--no-renames',
    '-z',
    '--max-count=2000',
    'HEAD',
  ];
  const names = (await runGit([...args, '--'], { repoPath })).toString('utf8').split('\0');
  const different = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  const step = Math.max(1, Math.floor(different.length / PATH_COUNT));
  return different.filter((_, i) => i % step === 0).slice(0, PATH_COUNT);
}

interface Question {
  readonly name: string;
  readonly paths: readonly (string | undefined)[];
  readonly run: (history: History, repo: RepoRecord, target: HistoryTarget) => Promise<unknown>;
  /** The command that people would type. */
  readonly git: (file: string | undefined) => readonly string[];
}

const page = (offset: number) => (history: History, repo: RepoRecord, target: HistoryTarget) =>
  history.commits(repo, { ...target, offset, limit: 50 }, NEVER);

const log = (file: string | undefined, ...more: readonly string[]): string[] => [
  'log',
  '--max-count=50',
  ...more,
  'HEAD',
  '--',
  ...(file === undefined ? [] : [file]),
];

function questionsOf(paths: readonly string[], large: string | undefined): Question[] {
  const blamed = large === undefined ? paths : [large];
  const everything = [undefined];
  return [
    { name: 'first page, path', paths, run: page(0), git: (file) => log(file) },
    { name: 'first page', paths: everything, run: page(0), git: (file) => log(file) },
    {
      name: 'page 500',
      paths: everything,
      run: page(25_000),
      git: (file) => log(file, '--skip=25000'),
    },
    {
      name: 'authors',
      paths: everything,
      run: (history, repo, target) => history.authors(repo, target, NEVER),
      git: () => ['shortlog', '-sne', 'HEAD', '--'],
    },
    {
      name: 'blame',
      paths: blamed,
      run: (history, repo, { ref, path: file = '' }) =>
        history.blame(repo, { ref, path: file }, NEVER),
      git: (file = '') => ['blame', '--porcelain', 'HEAD', '--', file],
    },
    {
      name: 'diff HEAD~100..HEAD',
      paths: everything,
      run: (history, repo) =>
        history.diff(repo, { base: 'HEAD~100', head: 'HEAD', path: undefined }, NEVER),
      git: () => ['diff', 'HEAD~100', 'HEAD', '--'],
    },
  ];
}

async function row(history: History, repo: RepoRecord, question: Question): Promise<string[]> {
  const { name, paths, run, git } = question;
  const commit = String(await runGit(['rev-parse', 'HEAD'], { repoPath: repo.source.path })).trim();
  const times: [number[], number[], number[]] = [[], [], []];
  for (const file of paths) {
    const target = { ref: commit, path: file };
    times[0].push(await elapsedMs(() => runGit(git(file), { repoPath: repo.source.path })));
    times[1].push(await elapsedMs(() => run(history, repo, target)));
    for (let i = 0; i < 5; i++) times[2].push(await elapsedMs(() => run(history, repo, target)));
  }
  const [self, first, again] = times.map(summarizeLatency);
  return [
    name,
    formatMs(self?.p50Ms ?? 0),
    ...[first, again].flatMap((one) => [formatMs(one?.p50Ms ?? 0), formatMs(one?.p95Ms ?? 0)]),
  ];
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-x8-'));
  const [given, ...morePaths] = process.argv.slice(2);
  try {
    const repoPath = given ?? path.join(folder, 'made.git');
    if (given === undefined)
      process.stdout.write(
        `made ${COMMIT_COUNT} commits in ${formatMs(await elapsedMs(() => makeRepository(repoPath)))} ms\n`,
      );
    const paths = morePaths.length > 0 ? morePaths : await samplePaths(repoPath);
    const questions = questionsOf(paths, given === undefined ? LARGE_FILE : undefined);
    const repo: RepoRecord = {
      repoId: 1,
      name: 'local/made',
      codeHostType: 'genericGitHost',
      isFork: false,
      isArchived: false,
      visibility: 'unknown',
      source: { kind: 'commits', path: repoPath },
      defaultRevision: 'HEAD',
    };
    for (const hasGraph of [false, true]) {
      const history = new History({
        timeoutMs: 0,
        sourceSizeMax: 1 << 26,
        graphs: {
          folder: path.join(folder, 'history'),
          ...(hasGraph ? {} : { commitCountMin: Number.MAX_SAFE_INTEGER }),
        },
      });
      const preparedMs = await elapsedMs(() => history.prepare(repo, NEVER));
      process.stdout.write(
        hasGraph ? `\ngraph written in ${formatMs(preparedMs)} ms\n` : '\nno graph\n',
      );
      const rows: string[][] = [];
      for (const question of questions) rows.push(await row(history, repo, question));
      const columns = COLUMNS.map((title, i) => ({
        title,
        align: i === 0 ? ('left' as const) : ('right' as const),
      }));
      process.stdout.write(`${formatTable(columns, rows)}\n`);
      await history.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
