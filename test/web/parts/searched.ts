// A daemon with one repository of three commits: words to search for, kinds of files, folders; and contexts.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { serveIndexed } from '../../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { pageTests } from '../browser.ts';

const FIG_FOLDERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'sought'];

export const FILES = {
  'src/plum.ts':
    'export function plumTree(count: number) {\n  return count + 1;\n}\n\n// plumtree\n',
  'src/deep/er/pear.py': 'def pear():\n    return "plumtree"\n',
  'long.txt': `plumtree ${'x'.repeat(200_000)}\n`,
  'many.txt': Array.from({ length: 1000 }, (_, row) => `row ${row}\n`).join(''),
  'words.txt': 'eat all the apples\n',
  'space.txt': 'two words\n',
  // Files with the word figtree: enough folders to look for one.
  ...Object.fromEntries(FIG_FOLDERS.map((name) => [`${name}/fig.txt`, 'figtree\n'])),
  'tall.txt': Array.from({ length: 300 }, (_, row) => `figtree row ${row}\n`).join(''),
  'one.txt': 'かき persimmon\n',
  // A file of each kind with the word medlar.
  'src/tree.ts': "const smile = '😀'; return 1;\nexport const medlar = smile;\n",
  'src/deep/leaf.ts': 'medlar();\n',
  'test/tree.ts': 'medlar();\n',
  'vendor/tree.ts': 'medlar();\n',
  'api.pb.go': 'package medlar\n',
  'README.md': '# medlar\n\n```ts\nconst medlar = 1;\n```\n',
};

/** Address of the daemon, name of its repository, and where that is browsed. */
export let url = '';
export let repoName = '';
export let browsed = '';

export const test = pageTests(async () => {
  const repo = makeRepo({});
  writeFiles(repo, FILES);
  commitAll(repo);
  writeFiles(repo, { 'src/plum.ts': `${FILES['src/plum.ts']}// changedtree\n` });
  commitAll(repo, 'second change');
  writeFiles(repo, {
    'words.txt': 'eat all the pears\n',
    'space.txt': 'two   words\n',
    'many.txt': FILES['many.txt'].replace('row 500\n', 'another\n'),
  });
  commitAll(repo, 'third');
  const file = path.join(temporaryFolder(), 'trawl.json');
  const contexts = { both: { include: ['local/*', 'x/*'] }, ours: { include: ['local/*'] } };
  writeFileSync(file, JSON.stringify({ contexts }));
  const served = await serveIndexed(temporaryFolder(), [repo], {
    env: licenceEnvironment(),
    flags: ['--config', file],
  });
  await served.process.until(/ symbols found /);
  ({ url } = served);
  repoName = `local/${path.basename(repo)}`;
  browsed = `/browse/${repoName}/-`;
  return url;
});

export function queryBox(page: Page) {
  return page.getByRole('combobox', { name: 'Query' });
}

/** Opens the start page and waits until suggestions are there: the field took keys before. */
export async function openStart(page: Page): Promise<void> {
  await page.goto('/');
  await page.locator('.box-input[aria-haspopup]').waitFor();
}

/** Opens results and waits until they are all there. */
export async function search(page: Page, query: string): Promise<void> {
  await page.goto(`/search?${query}`);
  await page.getByText('that is all').waitFor();
}
