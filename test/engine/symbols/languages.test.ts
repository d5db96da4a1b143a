// The tables of languages and kinds agree with linguist, with the installed ctags, with the grammars of the build
// and with the core.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SYMBOL_KIND_NAMES, SYMBOL_KIND_POINTS } from '../../../core/shared/kinds.ts';
import * as layout from '../../../core/shared/symbols.ts';
import { resolveLanguage } from '../../../daemon/sources/languages/language-data.ts';
import {
  CTAGS_LANGUAGES,
  ctagsParserOf,
  kindOfTag,
} from '../../../daemon/engine/symbols/ctags-languages.ts';
import { findCtags } from '../../../daemon/engine/symbols/ctags.ts';
import { kindIndex, kindInContext, SYMBOL_KINDS } from '../../../daemon/engine/symbols/kinds.ts';
import { grammarOf, TREE_LANGUAGES } from '../../../daemon/engine/symbols/grammars.ts';
import { PATTERN_LANGUAGES } from '../../../daemon/engine/symbols/pattern-tables.ts';
import { queryOf } from '../../../daemon/engine/symbols/queries.ts';
import { NO_CTAGS } from './harness.ts';

/** Parsers that came after version 5.9. */
const NEW_PARSERS = new Set(['GraphQL', 'Terraform', 'Thrift']);

test('languages have the names of linguist', () => {
  const unknown = [...CTAGS_LANGUAGES, ...TREE_LANGUAGES].filter(
    (language) => resolveLanguage(language) !== language && language !== 'JSX',
  );
  assert.deepEqual(unknown, []);
});

test('INDEXED.md has the number of languages with symbols', () => {
  const own = [...TREE_LANGUAGES, ...PATTERN_LANGUAGES.keys(), 'Svelte', 'Vue'];
  const counts = [own, [...own, ...CTAGS_LANGUAGES]].map(
    (languages) =>
      new Set(languages.filter((language) => resolveLanguage(language) === language)).size,
  );
  const text = readFileSync('INDEXED.md', 'utf8').replaceAll(/\s+/g, ' ');
  const said = /symbols in (\d+) languages by itself .*?, and in (\d+) if Universal Ctags/.exec(
    text,
  );
  assert.deepEqual(said?.slice(1).map(Number), counts);
});

test('the installed ctags has the parsers', { skip: NO_CTAGS }, async () => {
  const parsers = new Set((await findCtags())?.parsers);
  const missing = CTAGS_LANGUAGES.map((language) => ctagsParserOf(language) ?? language).filter(
    (parser) => !parsers.has(parser) && !NEW_PARSERS.has(parser),
  );
  assert.deepEqual(missing, []);
});

test('every grammar has its query and its file, and there is no other file', () => {
  const grammars = new Set(TREE_LANGUAGES.map((language) => grammarOf(language) ?? ''));
  const names = readdirSync(path.join('build', 'grammars'));
  const files = names.flatMap((name) => /^(\w+)\.wasm\.br$/.exec(name)?.[1] ?? []);
  assert.deepEqual(new Set(files), grammars);
  for (const grammar of grammars) assert.ok(queryOf(grammar) !== undefined, grammar);
});

test('kinds have the numbers of the file format', () => {
  const constants = new Map(Object.entries(layout));
  assert.equal(SYMBOL_KINDS.length, layout.SYMBOL_KIND_COUNT);
  assert.deepEqual(SYMBOL_KIND_NAMES, SYMBOL_KINDS);
  assert.equal(SYMBOL_KIND_POINTS.length, layout.SYMBOL_KIND_COUNT);
  assert.equal(layout.SYMBOL_OTHER, layout.SYMBOL_KIND_COUNT - 1);
  for (const [index, kind] of SYMBOL_KINDS.entries()) {
    assert.equal(kindIndex(kind), index);
    const name = `SYMBOL_${kind.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;
    assert.equal(constants.get(name), index, name);
  }
});

test('existing and unknown kinds of ctags', () => {
  assert.equal(kindOfTag('C', 'member'), 'field');
  assert.equal(kindOfTag('Python', 'member'), 'method');
  assert.equal(kindOfTag('Haskell', 'constructor'), 'enumMember');
  assert.equal(kindOfTag('C', 'prototype'), undefined);
  assert.equal(kindOfTag('Unknown', 'unheard of'), 'other');
  for (const name of ['toString', '__proto__', 'hasOwnProperty']) {
    assert.equal(kindOfTag(name, name), 'other');
  }
});

test('kinds depend on the parent', () => {
  const shape = { name: 'Shape', kind: 'class' } as const;
  assert.equal(kindInContext('Java', 'method', 'Shape', shape), 'constructor');
  assert.equal(kindInContext('Python', 'function', '__init__', shape), 'constructor');
  assert.equal(kindInContext('Python', 'function', 'Shape', shape), 'method');
  assert.equal(kindInContext('Python', 'variable', 'x', shape), 'field');
  assert.equal(kindInContext('Swift', 'variable', 'x', shape), 'property');
  assert.equal(
    kindInContext('Python', 'function', 'f', { name: 'g', kind: 'function' }),
    'function',
  );
  assert.equal(kindInContext('Kotlin', 'method', 'f', undefined), 'function');
});
