// History read by the daemon equals the output of git, on a history with every special case: renames, merges of two
// and more, a submodule, links, modes, binary files, missing line ends, CRLF, names and messages in other encodings,
// a mailmap, empty commits, a second root, equal times.
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { FileDiff } from '../../../daemon/sources/history/diff.ts';
import { RefError } from '../../../daemon/sources/git/names.ts';
import { commitFiles, git, makeRepo, temporaryFolder } from '../git/fixture.ts';
import { authorsOf, blameOf, changesOf, hunksOf, lineCountsOf, logOf } from './oracle.ts';
import { gitBytes, makeHistory, type MadeCommit } from './repos.ts';
import { graphFolder, historyOf, type HistoryWorld, NEVER } from './world.ts';

function numbered(count: number, mark = ''): string {
  return Array.from({ length: count }, (_, i) => `line ${i}${mark}\n`).join('');
}

const GRAPH = 'info/commit-graphs/commit-graph-chain';

const SAME_TIME = '1700001000 +0000';

/** Files of all kinds that git has. */
function firstFiles(moduleId: string): NonNullable<MadeCommit['files']> {
  return {
    'src/a.c': `int one() {\n${numbered(30)}}\n`,
    'b.txt': 'no line end',
    'crlf.txt': 'one\r\ntwo\r\n',
    'bin.dat': Buffer.from('a\0b'),
    empty: '',
    'run.sh': { mode: '100644', content: '#!/bin/sh\n' },
    link: { mode: '120000', content: 'src/a.c' },
    module: { mode: '160000', content: moduleId },
    '"caf\\351.txt"': 'latin-1 name\n',
    '"caf\\303\\251 \\"q\\"\\n.txt"': 'odd name\n',
    'old name.txt': numbered(20),
  };
}

/** `format` decides the length of the id in the submodule. */
function commitsFor(format: 'sha1' | 'sha256'): MadeCommit[] {
  const moduleId = (digit: string): string => digit.repeat(format === 'sha1' ? 40 : 64);
  return [
    { message: 'first\n\nbody of it\n\nwith two paragraphs\n', files: firstFiles(moduleId('1')) },
    {
      author: 'Second Person <second@example.com>',
      date: '1700000500 +0530',
      message: 'second: subject\nwrapped over two lines\n\nBody\n',
      files: {
        'src/a.c': `int one() {\n${numbered(10)}changed\n${numbered(20)}}\n`,
        'b.txt': 'no line end',
        'crlf.txt': 'one\r\nTWO\r\n',
        'bin.dat': Buffer.from('a\0c'),
      },
    },
    {
      author: Buffer.from('Jos\xe9 <jose@example.com>', 'latin1'),
      encoding: 'ISO-8859-1',
      message: Buffer.from('caf\xe9: d\xe9j\xe0 vu\n', 'latin1'),
      renames: { '"old name.txt"': '"new name.txt"' },
      files: { 'b.txt': 'a line\nno line end again' },
    },
    {
      date: SAME_TIME,
      branch: 'refs/heads/side',
      parents: [':2'],
      files: { 'side.txt': 'side\n' },
    },
    { date: SAME_TIME, branch: 'refs/heads/third', parents: [':1'], files: { 'third.txt': '3\n' } },
    { date: SAME_TIME, message: 'empty commit' },
    {
      message: 'octopus',
      parents: [':6', ':4', ':5'],
      files: { 'side.txt': 'side\n', 'third.txt': '3\n' },
    },
    { branch: 'refs/heads/root', message: '', parents: [], files: { 'other.txt': 'other\n' } },
    {
      author: 'second <SECOND@work.example>',
      date: '1700009000 -0800',
      message: 'merge of another root\n\n\n\ntrailing  \n\n',
      parents: [':7', ':8'],
      files: {
        '.mailmap':
          'Proper Name <second@example.com> <SECOND@work.example>\nProper Name <second@example.com>\n',
        'run.sh': { mode: '100755', content: '#!/bin/sh\n' },
        link: 'now a file\n',
        module: { mode: '160000', content: moduleId('2') },
        empty: { content: undefined },
        '"caf\\351.txt"': 'latin-1 name\nand more\n',
        '"caf\\303\\251 \\"q\\"\\n.txt"': 'odd name\nmore\n',
        'src/a.c': `int one() {\n${numbered(10)}changed\n${numbered(20)}}\nint two() {\n${numbered(12, '!')}}\n`,
        'other.txt': 'other\n',
      },
    },
    {
      message: '[skip] \u00C9t\u00E9 (x*) \\ a.b',
      date: '1700009001 +0000',
      files: { 'src/deep/x.txt': 'x\n' },
    },
  ];
}

/** All files that differ, in pages of two. */
async function pagesOf(world: HistoryWorld, base: string, head: string): Promise<FileDiff[]> {
  const files: FileDiff[] = [];
  for (;;) {
    const window = { offset: files.length, limit: 2 };
    const page = await world.diff(base, head, undefined, { window });
    if (page.length === 0) return files;
    files.push(...page);
  }
}

for (const format of ['sha1', 'sha256'] as const) {
  const { path: repo, commits } = makeHistory(commitsFor(format), { format });
  git(repo, 'tag', 'v1', commits[1]!);
  git(repo, 'tag', '-a', '-m', 'note', 'v2', commits[8]!);
  git(repo, 'tag', '-a', '-m', 'tag of a tag', 'v2-again', 'v2');
  git(repo, 'update-ref', 'refs/remotes/origin/main', commits[8]!);
  git(repo, 'update-ref', 'refs/pull/1/head', commits[8]!);
  const folder = graphFolder();
  const indexed = historyOf(repo, { folder });

  const variants: [string, () => Promise<HistoryWorld>][] = [
    ['without a graph of ours', async () => historyOf(repo, { commitCountMin: 1e6 })],
    [
      'with a graph of ours',
      async () => {
        await indexed.history.prepare(indexed.repo, NEVER);
        assert.ok(existsSync(path.join(folder, String(indexed.repo.repoId), GRAPH)));
        return indexed;
      },
    ],
  ];

  // One of them is enough for the longer ids.
  for (const [variant, open] of format === 'sha1' ? variants : variants.slice(1)) {
    test(`${format}, ${variant}: commits equal git log`, async () => {
      const world = await open();
      for (const [call, args] of [
        [{}, ['main']],
        [{ ref: 'side' }, ['side']],
        [{ ref: commits[6]! }, [commits[6]!]],
        [{ path: 'src' }, ['main', '--', 'src']],
        [{ path: 'src/a.c' }, ['main', '--', 'src/a.c']],
        [{ path: 'new name.txt' }, ['main', '--', 'new name.txt']],
        [{ path: 'side.txt' }, ['main', '--', 'side.txt']],
        [{ path: 'nowhere' }, ['main', '--', 'nowhere']],
        [{ path: ':(top)src' }, ['main', '--', ':(literal):(top)src']],
        [{ query: 'SUBJECT' }, ['main', '-i', '--grep=SUBJECT']],
        [{ query: 'd.j. vu' }, ['main', '-i', '--grep=d.j. vu']],
        [{ query: '\u00E9T\u00C9' }, ['main', '-i', '--grep=\u00E9T\u00C9']],
        [{ query: '(x\\*)' }, ['main', '-i', '--grep=(x\\*)']],
        [{ query: 'nothing like it' }, ['main', '-i', '--grep=nothing like it']],
        [{ author: 'proper' }, ['main', '-i', '--author=proper']],
        [{ author: 'A@EXAMPLE' }, ['main', '-i', '--author=A@EXAMPLE']],
        [{ since: 1_700_000_500 }, ['main', '--max-age=1700000500']],
        [{ until: 1_700_001_000 }, ['main', '--min-age=1700001000']],
        [
          { since: 1_700_000_400, until: 1_700_000_600, author: 'p', query: 's', path: 'src' },
          [
            'main',
            '--max-age=1700000400',
            '--min-age=1700000600',
            '-i',
            '--author=p',
            '--grep=s',
            '--',
            'src',
          ],
        ],
      ] as const) {
        const found = await world.commits(call);
        const expected = logOf(repo, ...args);
        assert.deepEqual(found, { total: expected.length, items: expected }, JSON.stringify(call));
      }
      assert.ok((await world.commits()).items.length > 8);
    });

    test(`${format}, ${variant}: pages of commits`, async () => {
      const world = await open();
      const all = logOf(repo, 'main');
      for (const call of [{}, { path: 'src/a.c' }, { author: 'proper' }]) {
        const args = 'author' in call ? ['-i', '--author=proper'] : [];
        const listed =
          'path' in call ? logOf(repo, 'main', '--', 'src/a.c') : logOf(repo, 'main', ...args);
        for (let offset = 0; offset <= listed.length + 1; offset++) {
          const page = await world.commits({ ...call, offset, limit: 1 });
          assert.equal(page.total, listed.length);
          assert.deepEqual(page.items, listed.slice(offset, offset + 1));
        }
      }
      const far = await world.commits({ offset: Number.MAX_SAFE_INTEGER, limit: 1 });
      assert.deepEqual(far, { total: all.length, items: [] });
    });

    test(`${format}, ${variant}: each commit`, async () => {
      const world = await open();
      for (const ref of [...commits, 'v1', 'v2', 'v2-again', 'HEAD', 'main~1', 'refs/heads/side'])
        assert.deepEqual(
          [await world.history.commit(world.repo, ref, NEVER)],
          logOf(repo, '-1', ref),
          ref,
        );
    });

    test(`${format}, ${variant}: authors equal git shortlog`, async () => {
      const world = await open();
      for (const [ref, within] of [
        ['main', undefined],
        ['side', undefined],
        ['main', 'src'],
      ] as const) {
        const found = await world.history.authors(world.repo, { ref, path: within }, NEVER);
        const args = within === undefined ? [ref] : [ref, '--', within];
        assert.deepEqual(found, authorsOf(repo, ...args));
        assert.ok(found.length > 1);
      }
    });

    test(`${format}, ${variant}: blame equals git blame`, async () => {
      const world = await open();
      const files: [string, string][] = [
        ['src/a.c', 'main'],
        ['src/a.c', 'v1'],
        ['b.txt', 'main'],
        ['crlf.txt', 'main'],
        ['bin.dat', 'main'],
        ['new name.txt', 'main'],
        ['link', 'v1'],
        ['link', 'main'],
        ['side.txt', 'main'],
        ['other.txt', 'main'],
        ['.mailmap', 'main'],
      ];
      for (const [file, ref] of files) {
        const { ranges, commits: about } = await world.blame(file, ref);
        const found = ranges.flatMap(({ hash, path: then, lineCount }) =>
          Array.from({ length: lineCount }, () => {
            const { previous, ...commit } = about[hash]!;
            const text = previous === undefined ? undefined : `${previous.hash} ${previous.path}`;
            return { ...commit, path: then, previous: text };
          }),
        );
        assert.deepEqual(found, blameOf(repo, ref, '--', file), `${ref}:${file}`);
        let nextLine = 1;
        for (const [index, { startLine, lineCount, hash }] of ranges.entries()) {
          assert.equal(startLine, nextLine);
          assert.notEqual(hash, ranges[index - 1]?.hash);
          nextLine += lineCount;
        }
      }
      assert.deepEqual(await world.blame('empty', 'v1'), { ranges: [], commits: {} });
    });

    test(`${format}, ${variant}: diffs equal git diff`, async () => {
      const world = await open();
      for (const [index, base] of commits.entries()) {
        const next = commits[index + 1] ?? base;
        for (const head of [next, commits[0]!, commits[8]!]) {
          for (const within of [undefined, 'src', 'new name.txt']) {
            const args = within === undefined ? [base, head] : [base, head, '--', within];
            const files = await world.diff(base, head, within);
            const changes = files.map(({ oldPath, newPath }) => [oldPath, newPath]);
            assert.deepEqual(changes, changesOf(repo, ...args));
            const hunks = files
              .flatMap((file) => file.hunks)
              .map(({ oldRange: o, newRange: n, heading, body }) => {
                const range = (mark: string, { start, lines }: typeof o): string =>
                  `${mark}${start}${lines === 1 ? '' : `,${lines}`}`;
                const tail = heading === undefined ? '' : ` ${heading}`;
                return { head: `@@ ${range('-', o)} ${range('+', n)} @@${tail}`, body };
              });
            assert.deepEqual(hunks, hunksOf(repo, ...args));
            if (head === next && within === undefined)
              assert.deepEqual(await pagesOf(world, base, head), files);
          }
        }
      }
    });

    test(`${format}, ${variant}: lines of diffs are counted as by git diff --numstat`, async () => {
      const world = await open();
      for (const [index, head] of commits.entries()) {
        const files = await world.diff(commits[index - 1] ?? head, head);
        // git counts a file that was made something else once.
        const isRemade = ({ oldPath }: FileDiff): boolean =>
          files.some(({ newPath, status }) => status === 'added' && newPath === oldPath);
        const counts = files
          .filter(
            (file) =>
              !isRemade(file) &&
              !files.some((other) => isRemade(other) && other.oldPath === file.newPath),
          )
          .map(({ isBinary, additions, deletions }) => (isBinary ? null : [additions, deletions]));
        const remade = files.filter(isRemade).map(({ oldPath }) => `:(exclude)${oldPath ?? ''}`);
        const base = commits[index - 1] ?? head;
        assert.deepEqual(counts, lineCountsOf(repo, base, head, '--', '.', ...remade));
      }
    });

    test(`${format}, ${variant}: a root commit is compared with nothing`, async () => {
      const world = await open();
      for (const root of [commits[0]!, commits[7]!])
        for (const base of [`${root}^`, `${root}~1`]) {
          const files = await world.diff(base, root);
          const listed = gitBytes(repo, 'ls-tree', '-r', '--name-only', '-z', root).toString();
          assert.deepEqual(
            files.map(({ newPath }) => newPath),
            listed.split('\0').slice(0, -1),
          );
          assert.ok(files.every(({ oldPath, status }) => oldPath === null && status === 'added'));
        }
      assert.deepEqual(
        await world.diff(`${commits[1]!}^`, commits[1]!),
        await world.diff(commits[0]!, commits[1]!),
      );
      await assert.rejects(world.diff(`${commits[1]!}^2`, commits[1]!), RefError);
    });

    test(`${format}, ${variant}: names that are unusual, or not UTF-8`, async () => {
      const world = await open();
      const odd = 'caf\u00E9 "q"\n.txt';
      const first = commits[0]!;
      const last = commits[8]!;
      for (const [file, pattern] of [
        ['caf\uFFFD.txt', 'caf?.txt'],
        [odd, 'caf*q*'],
      ] as const) {
        const { ranges } = await world.blame(file, 'main');
        const rows = ranges.map(({ hash, path: then, lineCount }) => [hash, then, lineCount]);
        assert.deepEqual(rows, [
          [first, file, 1],
          [last, file, 1],
        ]);
        const listed = await world.commits({ path: file });
        assert.deepEqual(
          listed.items.map(({ hash }) => hash),
          gitBytes(repo, 'log', '--format=%H', 'main', '--', pattern).toString().trim().split('\n'),
        );
        const files = await world.diff(first, last, file);
        assert.deepEqual(
          files.map(({ oldPath, newPath, hunks }) => [
            oldPath,
            newPath,
            hunks[0]?.body.split('\n').length,
          ]),
          [[file, file, 2]],
        );
      }
    });
  }
}

test('the end of a shallow history is not a name of the commit', async () => {
  const { path: full } = makeHistory(commitsFor('sha1'));
  const shallow = path.join(temporaryFolder(), 'shallow');
  execFileSync('git', ['clone', '-q', '--depth', '1', `file://${full}`, shallow]);
  const { history, repo } = historyOf(shallow);
  const names = async (): Promise<string | undefined> =>
    (await history.commit(repo, 'HEAD', NEVER))?.refs;
  assert.match(logOf(shallow, '-1')[0]!['refs'] as string, /^grafted, HEAD -> main/);
  assert.equal(await names(), 'HEAD -> main, origin/main, origin/HEAD');
  git(shallow, 'branch', 'grafted');
  assert.equal(await names(), 'HEAD -> main, origin/main, origin/HEAD, grafted');
});

test('a shallow history that is completed is shown whole', async () => {
  const { path: full, commits } = makeHistory(commitsFor('sha1'));
  const shallow = path.join(temporaryFolder(), 'shallow');
  execFileSync('git', ['clone', '-q', '--bare', '--depth', '1', `file://${full}`, shallow]);
  const world = historyOf(shallow);
  assert.equal((await world.commits()).total, 1);
  assert.equal((await world.blame('src/a.c')).ranges.length, 1);
  execFileSync('git', ['fetch', '-q', '--unshallow'], { cwd: shallow });
  assert.equal((await world.commits()).total, commits.length);
  assert.deepEqual(await world.blame('src/a.c'), await historyOf(full).blame('src/a.c'));
});

test('dates at the ends of the calendar, in any zone', async () => {
  const expected = {
    '0 -0700': '1969-12-31T17:00:00-07:00',
    '1700000000 +1400': '2023-11-15T12:13:20+14:00',
    '1700000000 -0030': '2023-11-14T21:43:20-00:30',
    '1700000000 +9999': '2023-11-14T22:13:20+00:00',
    '4294967296 +0000': '2106-02-07T06:28:16+00:00',
    '253402300799 +0000': '9999-12-31T23:59:59+00:00',
    '253402300799 +0100': '1970-01-01T00:00:00+00:00',
  };
  const dates = Object.keys(expected);
  const { path: repo } = makeHistory(dates.map((date) => ({ date, committed: '1 +0000' })));
  const { items } = await historyOf(repo).commits();
  assert.deepEqual(items.map(({ date }) => date).toReversed(), Object.values(expected));
});

test('times beyond 32 bits limit the commits', async () => {
  const dates = ['1000000000 +0000', '4000000000 +0000', '5000000000 +0000', '9000000000 +0000'];
  const { path: repo } = makeHistory(dates.map((date) => ({ date })));
  const world = historyOf(repo);
  const countOf = async (call: object): Promise<number> => (await world.commits(call)).total;
  assert.equal(await countOf({ since: 4_000_000_000 }), 3);
  assert.equal(await countOf({ since: 4_294_967_297 }), 2);
  assert.equal(await countOf({ until: 4_294_967_296 }), 2);
  assert.equal(await countOf({ until: 8_589_934_592 }), 3);
  assert.equal(await countOf({ since: 5_000_000_000, until: 5_000_000_000 }), 1);
});

test('authors with equal counts are ordered by name', async () => {
  const names = ['A', 'A !x', 'A b', 'B'];
  const repo = makeHistory(
    names.toReversed().map((name, index) => ({ author: `${name} <${index}@example.com>` })),
  );
  const { history, repo: record } = historyOf(repo.path);
  const found = await history.authors(record, { ref: 'main', path: undefined }, NEVER);
  assert.deepEqual(
    found.map(({ name }) => name),
    names,
  );
});

test('pages of files whose names look alike', async () => {
  const files = { '"\\350.txt"': 'one\n', '"\\351.txt"': 'two\n' };
  const { path: repo, commits } = makeHistory([{ files: {} }, { files }]);
  const shown = await pagesOf(historyOf(repo), commits[0]!, commits[1]!);
  assert.deepEqual(
    shown.map(({ hunks }) => hunks[0]?.body),
    ['+one', '+two'],
  );
});

test('attributes in the index of a work tree have no effect', async () => {
  const repo = makeRepo({ 'a.txt': 'one\n', '.gitattributes': '*.txt -diff\n' });
  commitFiles(repo, { 'a.txt': 'two\n' });
  const [file] = await historyOf(repo).diff('main~1', 'main');
  assert.deepEqual([file?.isBinary, file?.additions], [false, 1]);
});

test('lines that differ only in white space are equal where requested', async () => {
  const { path: repo } = makeHistory([
    { files: { a: 'x y\n', b: 'one\ntwo\n', c: 'c\n', 'd.sh': 'd  d\n', e: 'e e\n' } },
    {
      files: {
        a: 'x  y\n',
        b: ' one\n2\n',
        'd.sh': { mode: '100755', content: 'd d\n' },
        c: { mode: '100755', content: 'c\n' },
        e: 'e  e\n',
      },
    },
  ]);
  const world = historyOf(repo);
  const linesOf = async (more: object): Promise<unknown[]> => {
    const files = await world.diff('main~1', 'main', undefined, more);
    return files.map(({ newPath, additions, deletions }) => [newPath, additions, deletions]);
  };
  const equal = [
    ['a', 0, 0],
    ['b', 1, 1],
    ['c', 0, 0],
    ['d.sh', 0, 0],
    ['e', 0, 0],
  ];
  assert.deepEqual(await linesOf({ ignoresWhitespace: true }), equal);
  const window = { offset: 1, limit: 3 };
  assert.deepEqual(await linesOf({ ignoresWhitespace: true, window }), equal.slice(1, 4));
  assert.deepEqual(
    (await linesOf({})).map((file) => (file as unknown[])[1]),
    [1, 2, 0, 1, 1],
  );
});
