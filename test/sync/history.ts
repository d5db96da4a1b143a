// Random histories of repositories with handwritten branches, and everything that an index of them returns.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { runProgram } from '../base/run-program.ts';
import { git, temporaryFolder } from '../sources/git/fixture.ts';
import type { IndexOf } from './index-of.ts';

/** What is at a path of a commit. */
interface Item {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly content: string;
}
type Tree = ReadonlyMap<string, Item>;

/** Numbers from 0 on below 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Kills a program after so long, while `change` changes what it works on. It prints something once it works. */
export async function workAndKill(
  program: URL,
  args: readonly string[],
  afterMs: number,
  change: () => void,
): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const endMs = performance.now() + afterMs;
  while (performance.now() < endMs) {
    change();
    await sleep(20);
  }
  child.kill('SIGKILL');
  const [, signal] = (await exit) as [number, string];
  assert.equal(signal, 'SIGKILL', 'it ended by itself');
}

export const PATHS = [
  'a.c',
  'a.h',
  'b.h',
  'lib/x.cpp',
  'lib/x.h',
  'lib/x.H',
  'lib/y.m',
  'lib/deep/z.c',
  'lib/deep/z.h',
  'run',
  'src/run',
  'src/main.go',
  'src/main_test.go',
  'docs/readme.md',
  'docs/guide.pl',
  'vendor/q.js',
  'gen/q.js',
  'empty',
  'data.bin',
  'large.txt',
  'symbols.proto',
  String.raw`odd\377.txt`,
];
export const RULE_PATHS = [
  '.gitattributes',
  'src/.gitattributes',
  'docs/.gitattributes',
  '.trawlignore',
];
export const CONTENTS = [
  // Symbols in some languages, and in others none.
  'message plum {}\n',
  'plum\n',
  'plum pear\n',
  '#!/usr/bin/env python3\nplum\n',
  '// vim: set ft=ruby:\nplum cherry\n',
  '// -*- C++ -*-\nplum;\n',
  '',
  'plum\0pear\n',
  `plum ${'x'.repeat(6000)}\n`,
];
export const RULES = [
  '*.h linguist-language=Rust\n',
  '*.h linguist-language=protobuf\n*.proto linguist-language=Text\n',
  '*.js linguist-vendored=false linguist-generated\n',
  'run linguist-language=Go\n*.c linguist-documentation\n',
  '# nothing\n',
];
export const IGNORES = ['docs/\n', '*.js\n*.h\n', '# nothing\n', 'lib/**\n!lib/deep/\n', 'src\n'];
const MODES = ['100644', '100644', '100644', '100755', '120000', '160000'] as const;

export class History {
  readonly repo = temporaryFolder();
  readonly #random: () => number;
  #trees = new Map<string, Tree>();
  /** Trees of commits that were, by id. */
  readonly #commits: { readonly id: string; readonly tree: Tree }[] = [];
  readonly #twin: string | undefined;
  /** Ids of commits by the word that their twins have. */
  readonly twins = new Map<string, string>();
  version = 0;

  /** @param twin  what a word begins with that each commit writes into two files; absent: it does not */
  constructor(seed: number, twin?: string) {
    this.#random = randomOf(seed);
    this.#twin = twin;
    git(this.repo, 'init', '-q', '--bare', '-b', 'main');
    let tree: Tree = new Map();
    for (let i = 0; i < 12; i++) tree = this.#edit(tree);
    this.#commit('main', tree);
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)]!;
  }

  #edit(tree: Tree): Tree {
    const next = new Map(tree);
    const dice = this.#random();
    const path = this.#pick([...PATHS, ...PATHS, ...RULE_PATHS]);
    if (dice < 0.25) next.delete(this.#pick([...tree.keys()]));
    else if (dice < 0.35 && tree.size > 1) {
      // A rename, to a place that may be taken.
      const from = this.#pick([...tree.keys()]);
      const item = next.get(from)!;
      next.delete(from);
      next.set(path, item);
    } else if (dice < 0.42 && next.has(path))
      next.set(path, { ...next.get(path)!, mode: this.#mode(path) });
    else next.set(path, { mode: this.#mode(path), content: this.#content(path) });
    return next;
  }

  #mode(path: string): Item['mode'] {
    return RULE_PATHS.includes(path) && this.#random() < 0.9 ? '100644' : this.#pick(MODES);
  }

  #content(path: string): string {
    if (path === '.trawlignore') return this.#pick(IGNORES);
    if (path.endsWith('.gitattributes')) return this.#pick(RULES);
    const random = Math.floor(this.#random() * 1e6);
    const isOwn = this.#random() < 0.3;
    return isOwn ? `message plum${random} {}\n` : this.#pick(CONTENTS);
  }

  #commit(branch: string, tree: Tree): void {
    const lines = [`commit refs/heads/${branch}`, 'committer A <a@example.com> 1700000000 +0000'];
    lines.push('data 1', 'x');
    if (this.#trees.has(branch)) lines.push(`from refs/heads/${branch}^0`);
    lines.push('deleteall');
    // Where a file is in the way of a folder, the last one stays.
    for (const [path, { mode, content }] of tree) {
      if (mode === '160000') lines.push(`M 160000 ${'1'.repeat(40)} "${path}"`);
      else lines.push(`M ${mode} inline "${path}"`, `data ${content.length}`, content);
    }
    const count = this.twins.size;
    for (const [path, content] of this.#twinFiles(count))
      lines.push(`M 100644 inline ${path}`, `data ${content.length}`, content);
    const input = `${lines.join('\n')}\n`;
    const options = { cwd: this.repo, env: process.env, input };
    const done = runProgram('git', ['fast-import', '--force', '--quiet'], options);
    assert.equal(done.status, 0, done.stderr.toString());
    this.#trees.set(branch, tree);
    const id = git(this.repo, 'rev-parse', `refs/heads/${branch}`);
    this.#commits.push({ id, tree });
    this.twins.set(this.#wordOf(count), id);
  }

  #wordOf(count: number): string {
    return `${this.#twin}x${count}`;
  }

  /** Two files with the word of a commit, and some with words of those before, which change now and then. */
  #twinFiles(count: number): [string, string][] {
    if (this.#twin === undefined) return [];
    const older = [0, 1, 2].map((index): [string, string] => [
      `twin/older${index}.txt`,
      `twin ${this.#wordOf(count - ((count + index) % 3))}\n`,
    ]);
    const word = this.#wordOf(count);
    return [['twin/one.txt', `twin ${word}\n`], ...older, ['twin/two.txt', `twin and ${word}\n`]];
  }

  /** Changes something; says what. */
  change(): string {
    const done = this.#change();
    this.version++;
    return done;
  }

  #change(): string {
    const dice = this.#random();
    const branches = [...this.#trees.keys()];
    const branch = this.#pick(branches);
    if (dice < 0.08) {
      const name = this.#pick(['dev', 'rel/1', 'old', 'main']);
      const { id, tree } = this.#pick(this.#commits);
      git(this.repo, 'update-ref', `refs/heads/${name}`, id);
      this.#trees.set(name, tree);
      return `${name} is at an earlier commit`;
    }
    if (dice < 0.13 && branches.length > 1) {
      const isHead = git(this.repo, 'symbolic-ref', 'HEAD') === `refs/heads/${branch}`;
      git(this.repo, 'update-ref', '-d', `refs/heads/${branch}`);
      this.#trees.delete(branch);
      return `${branch} is gone${isHead ? ', which was the default' : ''}`;
    }
    if (dice < 0.18) {
      git(this.repo, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
      return `${branch} is the default`;
    }
    if (dice < 0.22) {
      git(this.repo, 'tag', '-f', this.#pick(['v1', 'v2']), `refs/heads/${branch}`);
      return `a tag of ${branch}`;
    }
    if (dice < 0.26) {
      const tree = new Map(this.#trees.get(branch));
      const content = this.#pick(IGNORES);
      if (this.#random() < 0.2) tree.delete('.trawlignore');
      else tree.set('.trawlignore', { mode: '100644', content });
      this.#commit(branch, tree);
      return `.trawlignore alone of ${branch}`;
    }
    const count = this.#random() < 0.1 ? 0 : 1 + Math.floor(this.#random() * 4);
    let tree = this.#trees.get(branch)!;
    for (let i = 0; i < count; i++) tree = this.#edit(tree);
    this.#commit(branch, tree);
    return `${count} edits of ${branch}`;
  }
}

const QUERIES = [
  'plum',
  'sym:plum',
  'pear or cherry',
  'file:h',
  'lang:c plum',
  'lang:rust',
  'file:. -plum',
];
const REVISED = ['', ' rev:*', ' rev:dev', ' rev:v1 -rev:HEAD'];

export interface Everything {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly repos: readonly {
    readonly record: Omit<RepoRecord, 'indexedAt'>;
    readonly fingerprint: string | undefined;
    readonly ignored: object;
    readonly leftOut: object;
  }[];
}

/** Those of revisions that are read on demand follow soon after the first search of them. */
export async function awaitSymbols(index: IndexOf): Promise<void> {
  for (const revision of REVISED)
    for (let i = 0; i < 3000; i++) {
      const { incompleteReasons = [] } = await index.search(`sym:plum${revision}`);
      if (!incompleteReasons.includes('symbols_missing')) break;
      await sleep(10);
    }
}

export async function everythingOf(index: IndexOf): Promise<Everything> {
  const answers: Record<string, unknown> = {};
  for (const query of QUERIES)
    for (const revision of REVISED) {
      const { files, isSearchExhaustive, stats } = await index.search(query + revision);
      const { fileCount, totalMatchCount } = stats;
      answers[query + revision] = { files, isSearchExhaustive, fileCount, totalMatchCount };
    }
  const repos = index.instance.catalog.repos.map((repo) => {
    const { record, skipped, ignored = {}, leftOut = {}, commits, fingerprint } = repo;
    const { indexedAt: _, ...rest } = record;
    return { record: rest, skipped, ignored, leftOut, commits, fingerprint };
  });
  return { answers, repos };
}
