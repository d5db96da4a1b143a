// Which repositories of a host a connection selects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostRepo } from '../../daemon/hosts/host.ts';
import { selectionFilter, type Selection } from '../../daemon/hosts/select.ts';

const repo = (path: string, more: Partial<HostRepo> = {}): HostRepo => ({
  hostId: path,
  path,
  cloneUrl: `https://host/${path}.git`,
  isFork: false,
  isArchived: false,
  visibility: 'private',
  topics: [],
  ...more,
});

const REPOS = [
  repo('acme/web', { topics: ['frontend', 'Public'], size: 1_000 }),
  repo('acme/.dot', { isFork: true, size: 10 }),
  repo('Acme/Api', { isArchived: true, topics: ['backend'] }),
  repo('acme/sub/deep', { topics: ['backend-old'], size: 5_000 }),
];
const ALL = 'acme/web acme/.dot Acme/Api acme/sub/deep';

const CASES: Readonly<Record<string, readonly [selection: Selection, kept: string]>> = {
  'no condition': [{ exclude: {} }, ALL],
  forks: [{ exclude: { forks: true } }, 'acme/web Acme/Api acme/sub/deep'],
  archived: [{ exclude: { archived: true } }, 'acme/web acme/.dot acme/sub/deep'],
  'a star stays in its folder': [{ exclude: { paths: ['acme/*'] } }, 'acme/sub/deep'],
  'two stars do not': [{ exclude: { paths: ['acme/**'] } }, ''],
  'names without case': [{ exclude: { paths: ['ACME/{web,api}'] } }, 'acme/.dot acme/sub/deep'],
  'classes and single characters': [
    { exclude: { paths: ['acme/w?[a-c]'] } },
    'acme/.dot Acme/Api acme/sub/deep',
  ],
  'an exclamation mark is a character': [{ exclude: { paths: ['!acme/web'] } }, ALL],
  'required topics': [{ topics: ['backend*', 'none'], exclude: {} }, 'Acme/Api acme/sub/deep'],
  'exclusion beats topics': [{ topics: ['backend*'], exclude: { topics: ['*-OLD'] } }, 'Acme/Api'],
  'sizes outside; an unknown one stays': [
    { exclude: { size: { min: 11, max: 1_000 } } },
    'acme/web Acme/Api',
  ],
  'a size at the bound stays': [{ exclude: { size: { min: 10 } } }, ALL],
};

test('which repositories a connection keeps', () => {
  for (const [name, [selection, kept]] of Object.entries(CASES)) {
    const paths = REPOS.filter(selectionFilter(selection)).map((one) => one.path);
    assert.equal(paths.join(' '), kept, name);
  }
});

test('parentheses in globs are characters', () => {
  const isKept = selectionFilter({ exclude: { paths: ['acme/old (x)/*'] } });
  assert.equal(isKept(repo('acme/old (x)/tool')), false);
  assert.equal(isKept(repo('acme/old x/tool')), true);
});

test('quotes, plus signs and other characters without a meaning in globs are characters', () => {
  for (const characters of ['+', '"', '|', '$$', '^^', '@(a)', '!', '"a"'])
    for (const [glob, text] of [
      ['*', 'x'],
      ['?', 'x'],
      ['[x]', 'x'],
      ['{x,y}', 'x'],
    ]) {
      const paths = [`acme/${glob}${characters}${glob}`];
      const isKept = selectionFilter({ exclude: { paths } });
      assert.equal(isKept(repo(`acme/${text}${characters}${text}`)), false, paths[0]);
      assert.equal(isKept(repo('acme/xx')), true, paths[0]);
    }
});
