// What the page makes of a query before it asks the daemon: completion at the caret, filters, contexts, the address;
// and which files the finder finds.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PREFIX_NAMES } from '../../daemon/engine/query/prefixes.ts';
import { find } from '../../daemon/web/browse/find-paths.ts';
import { isOfSearch, parametersOf, searchOf } from '../../daemon/web/search/address.ts';
import {
  completableAt,
  historyChoices,
  prefixChoices,
  suggestedChoices,
  valueChoices,
  type SuggestionKind,
} from '../../daemon/web/search/completion.ts';
import { contextIn, withContext } from '../../daemon/web/search/context-term.ts';
import { chosenOf, narrow, valuesOf } from '../../daemon/web/search/facet-values.ts';
import { folderOf, folderPattern } from '../../daemon/web/search/folders.ts';
import { filterOf, narrowed } from '../../daemon/web/search/narrowing.ts';
import type { ResultFile } from '../../daemon/web/search/rows.ts';

/** The word at `|`, and the text around it. */
function at(marked: string, isRegexEnabled = false) {
  return completableAt(marked.replace('|', ''), marked.indexOf('|'), isRegexEnabled);
}

test('the word at the caret: its prefix, kinds, and the filters beside it', () => {
  const bare = ['repo', 'file', 'sym'];
  for (const [query, lookupText, kinds, filter] of [
    ['|', '', [], undefined],
    ['pl|', 'pl', [], undefined],
    ['plu|', 'plu', bare, undefined],
    ['plu|mtree', 'plu', bare, undefined],
    ['"plu|', 'plu', bare, undefined],
    ['"plu|"', 'plu', [], undefined],
    ['a file:PLU|', 'PLU', ['file'], undefined],
    [String.raw`file:^src/plum\.t|`, 'src/plum.t', ['file'], undefined],
    ['file:"^a b|$"', 'a b', ['file'], undefined],
    ['sym:plumt|', 'plumt', ['sym'], undefined],
    ['lang:py|', 'py', ['lang'], undefined],
    ['-lang:py|', 'py', ['lang'], undefined],
    ['reposet:a|', 'a', [], undefined],
    ['content:abc|', 'abc', [], undefined],
    ['a repo:x -lang:go file:b|', 'b', ['file'], 'repo:x -lang:go'],
    ['content:a repo:x file:b|', 'b', ['file'], 'repo:x'],
    ['😀 repo:x file:b|', 'b', ['file'], 'repo:x'],
    ['repo:x or file:b|', 'b', ['file'], undefined],
    ['(repo:x) file:b|', 'b', ['file'], undefined],
  ] as const) {
    const word = at(query);
    const found = [word.lookupText, word.kinds, word.filter];
    assert.deepEqual(found, [lookupText, kinds, filter], query);
  }
});

/** The text after a choice, with `|` at the caret. */
function marked({ text, caret }: { readonly text: string; readonly caret: number }): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

test('a choice replaces the word, with the caret after it', () => {
  for (const [query, texts] of [
    ['plumtree fi|', ['plumtree file:|']],
    ['plumtree -fi|', ['plumtree -file:|']],
    ['re|', ['repo:|', 'rev:|', 'reposet:|']],
    ['file|', []],
    ['file:a|', []],
    ['FI|', []],
  ] as const)
    assert.deepEqual(prefixChoices(at(query)).map(marked), texts, query);
  for (const [query, texts] of [
    ['archived:|', ['archived:yes |', 'archived:no |', 'archived:only |']],
    ['a fork:o| b', ['a fork:only| b']],
    ['lang:o|', []],
  ] as const)
    assert.deepEqual(valueChoices(at(query)).map(marked), texts, query);
  for (const [query, kind, value, text] of [
    ['plumtree file:PLU|', 'file', 'src/plum.ts', String.raw`plumtree file:^src/plum\.ts$ |`],
    [
      'img|',
      'file',
      '<img onerror=alert(1)>.txt',
      String.raw`file:"^<img onerror=alert\(1\)>\.txt$" |`,
    ],
    ['plum|', 'sym', 'plumTree', 'sym:^plumTree$ |'],
    ['lang:py|', 'lang', 'Python', 'lang:Python |'],
    ['lang:c| a', 'lang', 'Objective C', 'lang:"Objective C"| a'],
    ['context:|', 'context', 'a "b"', String.raw`context:"a \"b\"" |`],
    ['file:|', 'file', 'a"b', String.raw`file:^a\x22b$ |`],
    ['file:|', 'file', 'a\nb c', String.raw`file:"^a\nb c$" |`],
  ] as readonly (readonly [string, SuggestionKind, string, string])[])
    assert.deepEqual(suggestedChoices(at(query), kind, [{ value }]).map(marked), [text], query);
});

test('recent queries that contain the typed text, in order, up to a number', () => {
  const queries = ['figtree', 'FIG lang:go', 'plum', 'a fig'];
  for (const [text, max, labels] of [
    ['fig', 5, ['figtree', 'FIG lang:go', 'a fig']],
    [' fig ', 2, ['figtree', 'FIG lang:go']],
    ['figtree', 5, []],
    ['', 5, queries],
  ] as const)
    assert.deepEqual(
      historyChoices(text, queries, max).map(({ label }) => label),
      labels,
      text,
    );
});

test('the guide to the syntax shows every prefix by its long name', () => {
  const guide = readFileSync('daemon/web/shell/syntax-dialog.tsx', 'utf8');
  const long = PREFIX_NAMES.filter((name) => name.length > 1);
  assert.deepEqual(
    long.filter((name) => !guide.includes(`${name}:`)),
    [],
  );
});

test('the context of a query is read, written, replaced and removed', () => {
  for (const [query, name] of [
    ['medlar', undefined],
    ['context:both medlar', 'both'],
    ['a context:"a \\"b\\"" c', 'a "b"'],
    ['"context:both"', undefined],
    ['xcontext:both', undefined],
    ['"a context:both b" c', undefined],
    ['a or context:both', undefined],
    ['-context:both a', undefined],
    ['(a or b) context: both', 'both'],
  ] as const)
    assert.equal(contextIn(query, false), name, query);
  for (const [query, name, after] of [
    ['medlar', 'both', 'context:both medlar'],
    ['medlar or quince', 'both', 'context:both (medlar or quince)'],
    ['context:both medlar', 'ours', 'context:ours medlar'],
    ['context:both (medlar or quince)', 'ours', 'context:ours (medlar or quince)'],
    ['context:both medlar', undefined, 'medlar'],
    ['a context:both b', 'a b', 'a context:"a b" b'],
    ['medlar', undefined, 'medlar'],
    ['malloc( or free(', 'both', 'context:both ("malloc(" or "free(")'],
    ['a or context:both', undefined, 'a or context:both'],
    ['a or context:both', 'ours', 'context:ours (a or context:both)'],
  ] as const)
    assert.equal(withContext(query, name, false), after, `${query} in ${name}`);
});

function file(path: string, language: string, kind: string, matchCount = 1): ResultFile {
  return { repository: 'local/a', path, language, kind, matchCount } as ResultFile;
}

const FILES = [
  file('a.txt', '', 'code', 2),
  file('src/plum.ts', 'TypeScript', 'code', 3),
  file('src/deep/er/pear.py', 'Python', 'test'),
  file('src/deep/use.ts', 'TypeScript', 'code'),
];

test('facets: a choice filters, and each counts what the others leave', () => {
  for (const [address, paths, languages, folders] of [
    ['', [0, 1, 2, 3], 'TypeScript 4,  2, Python 1', 'src/ 3,  2, src/deep/ 2'],
    ['lang=Python', [2], 'TypeScript 4,  2, Python 1', 'src/deep/ 1'],
    ['lang=Python&lang=TypeScript', [1, 2, 3], 'TypeScript 4,  2, Python 1', 'src/ 3, src/deep/ 2'],
    ['path=', [0], ' 2', 'src/ 3,  2, src/deep/ 2'],
    ['path=src/deep/&kind=code', [3], 'TypeScript 1', 'src/ 3,  2, src/deep/ 1'],
    ['lang=Go', [], 'TypeScript 4,  2, Python 1, Go 0', ''],
  ] as const) {
    const chosen = chosenOf(new URLSearchParams(address));
    const values = (facet: 'lang' | 'path') =>
      valuesOf(facet, FILES, { chosen, before: [] }).map(
        ({ value, matches }) => `${value} ${matches}`,
      );
    assert.deepEqual(
      narrow(FILES, chosen),
      paths.map((index) => FILES[index]),
      address,
    );
    assert.equal(values('lang').join(', '), languages, address);
    assert.equal(values('path').join(', '), folders, address);
  }
});

test('values of the unfiltered answer stay, and are marked', () => {
  const chosen = chosenOf(new URLSearchParams('lang=Python'));
  const values = valuesOf('lang', FILES.slice(2, 3), { chosen, before: FILES.slice(1, 3) });
  assert.deepEqual(
    values.map(({ value, isOfBefore }) => [value, isOfBefore]),
    [
      ['TypeScript', true],
      ['Python', false],
    ],
  );
});

test('a folder is the same set of files on the page and in a query', () => {
  const paths = [
    'a.txt',
    'src/a',
    'src/deep/a',
    'src/deep/er/a',
    'srcs/a',
    'a+b/c.d/e/f',
    'a+b/cxd/e',
  ];
  for (const folder of new Set(paths.map(folderOf)))
    assert.deepEqual(
      paths.filter((path) => new RegExp(folderPattern(folder)).test(path)),
      paths.filter((path) => folderOf(path) === folder),
      folder,
    );
});

test('filters as a query; the daemon is asked when the answer was partial', () => {
  const filter = (address: string) => filterOf(chosenOf(new URLSearchParams(address)));
  for (const [address, query] of [
    ['', undefined],
    ['lang=Python', 'lang:Python'],
    ['lang=Python&lang=C%2B%2B', '(lang:Python or lang:C++)'],
    ['repo=local/a.b', String.raw`repo:^local/a\.b$`],
    ['path=src/', 'file:^src/[^/]*$'],
    ['path=', 'file:^[^/]*$'],
    ['path=src/deep/&lang=Go', 'lang:Go file:^src/deep/'],
    // What no query can say.
    ['kind=test', undefined],
    ['lang=', undefined],
  ] as const)
    assert.equal(filter(address), query, address);
  const search = searchOf(new URLSearchParams('query=plum'), 1)!;
  const chosen = chosenOf(new URLSearchParams('lang=Go'));
  for (const [before, isNarrowed] of [
    [undefined, false],
    [{ search, files: [], isAll: true }, false],
    [{ search, files: [], isAll: false }, true],
    [{ search: { ...search, query: 'pear' }, files: [], isAll: false }, false],
  ] as const)
    assert.equal(narrowed(search, chosen, before).filter, isNarrowed ? 'lang:Go' : undefined);
});

test('a search in the address: defaults are omitted, invalid numbers are the default', () => {
  for (const [address, again, matches] of [
    ['query=a', 'query=a', 10_000],
    ['query=a+b&matches=5&isRegexEnabled=true', 'query=a+b&matches=5&isRegexEnabled=true', 5],
    ['query=a&matches=999999999', 'query=a&matches=100000', 100_000],
    ['query=a&matches=-1', 'query=a', 10_000],
    ['query=a&matches=x', 'query=a', 10_000],
    [
      'lang=Go&query=a&isCaseSensitivityEnabled=true',
      'query=a&isCaseSensitivityEnabled=true&lang=Go',
      10_000,
    ],
    ['query=a&constructor=b', 'query=a&constructor=b', 10_000],
  ] as const) {
    const parameters = new URLSearchParams(address);
    const search = searchOf(parameters, 2);
    assert.equal(search?.matches, matches, address);
    assert.equal(parametersOf(search, parameters).toString(), again, address);
  }
  assert.equal(searchOf(new URLSearchParams('query=+'), 2), undefined);
});

test('the finder finds files by names of any script', () => {
  const paths = ['docs/документ.md', 'src/日本語.txt', 'a/über.c', 'src/main.c'];
  for (const [text, found] of [
    ['main', ['src/main.c']],
    ['ДОКУМЕНТ', ['docs/документ.md']],
    ['docs док', ['docs/документ.md']],
    ['日本', ['src/日本語.txt']],
    ['über', ['a/über.c']],
    ['none', []],
  ] as const) {
    const answer = find(paths, text);
    assert.deepEqual(answer.type === 'found' && answer.paths.map(({ path }) => path), found, text);
  }
});

test('the pages whose address has a query to search for', () => {
  for (const [path, is] of [
    ['/search', true],
    ['/browse/local/a@main/-/blob/x/commits/a.ts', true],
    ['/browse/local/a/-/blob/x/-/commits/a.ts', true],
    ['/browse/local/a', true],
    // A filter of the messages.
    ['/browse/local/a@main/-/commits/src', false],
    ['/browse/local/a/-/commits/', false],
    ['/repos', false],
  ] as const)
    assert.equal(isOfSearch(path), is, path);
});
