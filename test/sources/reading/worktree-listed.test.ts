// Tests of whether git counts a path to a work tree: the same as git after each of many changes, while yeses are kept.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isListedInWorktree } from '../../../daemon/sources/reading/worktree-listed.ts';
import { git, makeRepo, writeFiles } from '../git/fixture.ts';

const { signal } = new AbortController();
const SETTLED_MS = 30;
/** The clock of a file system may be behind. */
const WAIT_MS = 60;

function listed(repo: string, name: string): Promise<boolean> {
  return isListedInWorktree({ path: repo }, name, signal, SETTLED_MS);
}

/** What git says, without anything kept. */
function listedByGit(repo: string, name: string): boolean {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', name];
  return git(repo, ...args)
    .split('\0')
    .includes(name);
}

const NAMES = ['a/b/tracked', 'a/b/fresh', 'top', 'a/b/gone', 'nosuch', 'a', 'a/b'];

async function check(repo: string, after: string): Promise<void> {
  for (const name of NAMES)
    assert.equal(await listed(repo, name), listedByGit(repo, name), `${name} after ${after}`);
}

test('every change that git would see is seen', async () => {
  const repo = makeRepo({ 'a/b/tracked': 't', top: 't', 'a/b/gone': 'g' });
  writeFiles(repo, { 'a/b/fresh': 'f' });
  const ignore = (place: string, text: string) => () => writeFileSync(path.join(repo, place), text);
  const changes: [string, () => void][] = [
    ['nothing', () => {}],
    ['a rule in the folder', ignore('a/b/.gitignore', 'fresh\n')],
    ['another rule of that size', ignore('a/b/.gitignore', 'frosh\n')],
    ['a rule above', ignore('a/.gitignore', 'fresh\n')],
    ['no rule above', () => rmSync(path.join(repo, 'a/.gitignore'))],
    ['a rule at the root', ignore('.gitignore', '/a/b/fresh\n')],
    ['a rule taken back', ignore('a/b/.gitignore', '!fresh\n')],
    [
      'no rules',
      () => ['.gitignore', 'a/b/.gitignore'].forEach((name) => rmSync(`${repo}/${name}`)),
    ],
    ['a private rule', ignore('.git/info/exclude', 'fresh\ntracked\n')],
    ['tracked in spite of it', () => git(repo, 'add', '-f', 'a/b/fresh')],
    ['not tracked any more', () => git(repo, 'rm', '-q', '--cached', 'a/b/tracked', 'a/b/fresh')],
    ['no private rule', ignore('.git/info/exclude', '')],
    ['a file gone from disk', () => rmSync(path.join(repo, 'a/b/gone'))],
    ['and from the index', () => git(repo, 'rm', '-q', '--cached', 'a/b/gone')],
    ['another repository around it', () => void git(repo, 'init', '-q', 'a/b')],
    ['which is gone', () => rmSync(path.join(repo, 'a/b/.git'), { recursive: true })],
  ];
  for (const [name, change] of changes) {
    await delay(WAIT_MS);
    await check(repo, `before ${name}`);
    change();
    await check(repo, name);
    await check(repo, name);
  }
});

test('a yes is kept once the files are settled, and costs no process', async () => {
  const repo = makeRepo({ a: 'a' });
  await delay(WAIT_MS);
  assert.equal(await listed(repo, 'a'), true);
  const { PATH } = process.env;
  process.env['PATH'] = '/nonexistent';
  try {
    assert.equal(await listed(repo, 'a'), true);
    await assert.rejects(listed(repo, 'b'));
  } finally {
    process.env['PATH'] = PATH;
  }
});

test('a change that is as old as it can be made to look', async () => {
  const repo = makeRepo({ '.gitignore': 'x\n' });
  writeFiles(repo, { 'dir/fresh': 'f' });
  const rules = path.join(repo, '.gitignore');
  const old = new Date(1_600_000_000_000);
  utimesSync(rules, old, old);
  await delay(WAIT_MS);
  assert.equal(await listed(repo, 'dir/fresh'), true);
  writeFileSync(rules, 'd*');
  utimesSync(rules, old, old);
  assert.equal(await listed(repo, 'dir/fresh'), false);
});

test('the folder of git elsewhere', async () => {
  const repo = makeRepo({ a: 'a' });
  const added = `${repo}-added`;
  git(repo, 'worktree', 'add', '-q', added);
  mkdirSync(path.join(added, 'dir'));
  writeFiles(added, { 'dir/new': 'n', '.gitignore': '*.log\n', 'x.log': 'l' });
  for (const [name, isListed] of [
    ['a', true],
    ['dir/new', true],
    ['x.log', false],
  ] as const)
    assert.equal(await listed(added, name), isListed, name);
  rmSync(added, { recursive: true });
});
