// Documents are right about files and packages: links lead to files and headings, files named in code font exist,
// every dependency has its reason.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow } from './imports.ts';

const DOCUMENTS = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...['bench', 'core', 'daemon', 'scripts', 'test'].flatMap((folder) => filesBelow(folder, '.md')),
];

/** The name by which a link can point to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsIn(document: string): string[] {
  return [...readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text]) =>
    anchorOf(text ?? ''),
  );
}

test('links between documents resolve', () => {
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const [, link = ''] of readFileSync(document, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? document : path.join(path.dirname(document), file);
      assert.ok(existsSync(target), `${document}: ${link}`);
      if (anchor !== undefined) {
        assert.ok(anchorsIn(target).includes(anchor), `${document}: ${link}`);
      }
      count++;
    }
  }
  assert.ok(count > 5);
});

/** Names in code font that are no places of ours: the data directory, and the document of the worked example. */
const ELSEWHERE: ReadonlySet<string> = new Set(['history/', 'on-demand/', 'b.md']);

/** Files and folders: of JSON only those with their folder, as the data directory has some. */
const PATH_IN_CODE =
  /`((?:[\w.-]+\/)*\w[\w.-]*\.(?:tsx?|css|mjs|md)|(?:[\w.-]+\/)+[\w.-]+\.json|(?:[\w.-]+\/)+)`/g;

test('files and folders named in documents exist, below the checkout or beside the document', () => {
  let count = 0;
  for (const document of DOCUMENTS) {
    const text = readFileSync(document, 'utf8').replaceAll(/^```[^]*?^```/gm, '');
    for (const [, name = ''] of text.matchAll(PATH_IN_CODE)) {
      // Folders with a dot are those of editors and agents, in the reader's own tree.
      if (ELSEWHERE.has(name) || name.startsWith('.')) continue;
      const locations = [name, path.join(path.dirname(document), name)];
      assert.ok(
        locations.some((location) => existsSync(location)),
        `${document}: ${name}`,
      );
      count++;
    }
  }
  assert.ok(count > 100);
});

/** Names in comments that are examples: files that an expression finds. */
const EXAMPLES: ReadonlySet<string> = new Set(['test.ts', 'test.tsx', 'spec.ts', 'spec.tsx']);

const SOURCES = ['bench', 'core', 'daemon', 'scripts', 'test'].flatMap((folder) =>
  filesBelow(folder, '.ts', '.tsx', '.mjs', '.css'),
);

const COMMENT = /^ *(?:\/\/|\/?\*+) .*$/gm;
const FILE_IN_COMMENT =
  /(?<![\w./-])((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|mjs|css))(?![\w/])/g;

test('files named in comments exist, beside the file, below the checkout, or below the folder of a part', () => {
  const missing: string[] = [];
  let count = 0;
  for (const source of SOURCES) {
    const folders = [path.dirname(source), '.', 'core', 'daemon', 'daemon/web', 'test'];
    const comments = readFileSync(source, 'utf8').match(COMMENT) ?? [];
    for (const [, name = ''] of comments.join('\n').matchAll(FILE_IN_COMMENT)) {
      if (EXAMPLES.has(name)) continue;
      count++;
      if (!folders.some((folder) => existsSync(path.join(folder, name))))
        missing.push(`${source}: ${name}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(count > 200);
});

test('names documented with their file are defined there', () => {
  let count = 0;
  for (const document of DOCUMENTS) {
    const text = readFileSync(document, 'utf8').replaceAll(/\s+/g, ' ');
    for (const [, name = '', file = ''] of text.matchAll(
      /`([A-Za-z]\w*)(?:\(\))?` (?:in|of) `([\w./-]+\.tsx?)`/g,
    )) {
      const location = [file, path.join(path.dirname(document), file)].find((one) =>
        existsSync(one),
      );
      if (location === undefined) continue;
      const definition = new RegExp(
        `\\b(?:const|function\\*?|class|interface|type) ${name}\\b|^ +(?:async )?${name}\\(`,
        'm',
      );
      assert.match(readFileSync(location, 'utf8'), definition, `${document}: ${name} of ${file}`);
      count++;
    }
  }
  assert.ok(count > 10);
});

test('lines that README shows as search results are in their files', () => {
  const displayed = [...readFileSync('README.md', 'utf8').matchAll(/^(daemon\/\S+?):\d+:(.+)$/gm)];
  assert.ok(displayed.length > 0);
  for (const [, file = '', line = ''] of displayed)
    assert.ok(readFileSync(file, 'utf8').split('\n').includes(line), `${file}: ${line}`);
});

test('every folder of the daemon has one row in daemon/README.md', () => {
  const folders = new Set(
    filesBelow('daemon', '.ts').map((file) =>
      `${path.posix.dirname(file)}/`.slice('daemon/'.length),
    ),
  );
  const tableRows = [...readFileSync('daemon/README.md', 'utf8').matchAll(/^\| `([^`]+\/)` /gm)];
  const rows = tableRows.map(([, folder]) => folder);
  assert.deepEqual(
    [...folders].filter((folder) => folder !== '' && !rows.includes(folder)),
    [],
  );
  assert.deepEqual(
    rows.filter((folder, index) => rows.indexOf(folder) !== index),
    [],
    'a folder has two rows',
  );
});

test('every dependency has its reason in daemon/README.md', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const section = readFileSync('daemon/README.md', 'utf8').split('\n## Dependencies\n')[1] ?? '';
  const rows = section.split(/^## /m)[0]?.matchAll(/^\| ([^|]+) \|/gm) ?? [];
  const packages = [...rows].flatMap(([, cell]) =>
    [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const expected = Object.keys({ ...dependencies, ...devDependencies });
  assert.deepEqual(new Set(packages), new Set(expected));
  assert.equal(packages.length, expected.length, 'a package is named twice');
});
