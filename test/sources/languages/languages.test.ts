// Language detection, language names given by users, and our tables against the linguist data set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as linguist from 'linguist-languages';
import { Attributes, attributePathsAbove } from '../../../daemon/sources/languages/attributes.ts';
import {
  languageTables,
  resolveLanguage,
} from '../../../daemon/sources/languages/language-data.ts';
import { EXTENSION_DEFAULTS } from '../../../daemon/sources/languages/language-defaults.ts';
import { RULES } from '../../../daemon/sources/languages/language-rules.ts';
import {
  detectLanguage,
  findHeaderFolders,
  languageOfPath,
} from '../../../daemon/sources/languages/languages.ts';

test('the built table equals the data set', () => {
  for (const language of Object.values(linguist)) {
    assert.equal(resolveLanguage(language.name.toUpperCase()), language.name);
  }
});

test('every extension that several languages claim has a default among them', () => {
  const defaults = new Map(
    Object.entries(EXTENSION_DEFAULTS).flatMap(([name, extensions]) =>
      extensions.split(' ').map((extension): [string, string] => [extension, name]),
    ),
  );
  for (const [extension, candidates] of languageTables().byExtension) {
    if (candidates.length === 1)
      assert.ok(!defaults.has(extension), `${extension} is not ambiguous`);
    else
      assert.ok(
        candidates.includes(defaults.get(extension) ?? ''),
        `${extension}: ${candidates.join(', ')}`,
      );
  }
  for (const [extension, rules] of Object.entries(RULES))
    for (const language of Object.keys(rules))
      assert.ok(
        language === '' || languageTables().byExtension.get(extension)?.includes(language),
        `${extension} ${language}`,
      );
});

test('languages by path', () => {
  const cases: [string, string][] = [
    ['src/a.c', 'C'],
    ['a.h', 'C'],
    ['a.ts', 'TypeScript'],
    ['a.tsx', 'TSX'],
    ['A.RS', 'Rust'],
    ['README.md', 'Markdown'],
    ['q.sql', 'SQL'],
    ['x.pl', 'Perl'],
    ['a.m', 'Objective-C'],
    ['Makefile', 'Makefile'],
    ['d/Dockerfile', 'Dockerfile'],
    ['CMakeLists.txt', 'CMake'],
    ['go.mod', 'Go Module'],
    ['.bashrc', 'Shell'],
    ['config.h.in', 'C'],
    ['a.d.ts', 'TypeScript'],
    ['a.yml', 'YAML'],
    ['a.json', 'JSON'],
    ['start.S', 'Unix Assembly'],
    ['start.s', 'Assembly'],
    ['a.v', 'Verilog'],
    ['a.unknown', ''],
    ['LICENSE', 'Text'],
    ['noextension', ''],
    ['', ''],
  ];
  for (const [path, language] of cases)
    assert.equal(detectLanguage(path, Buffer.alloc(0)), language, path);
});

test('languages by content', () => {
  const cases: [string, string, string][] = [
    ['run', '#!/usr/bin/env python3.11\n', 'Python'],
    ['run', '#!/bin/sh -e\n', 'Shell'],
    ['run', '#!/usr/bin/env -S NODE_ENV=x node --flag\n', 'JavaScript'],
    ['run', '#! /usr/bin/perl\n', 'Perl'],
    ['run', '#!/nothing/known\n', ''],
    ['run', '#!', ''],
    ['x.cgi', '#!/usr/bin/python\n', 'Python'],
    ['a.h', 'namespace x {\n', 'C++'],
    ['a.h', '#pragma once\n#include <vector>\n', 'C++'],
    ['a.h', '@interface X : NSObject\n', 'Objective-C'],
    ['a.h', '#ifdef __cplusplus\nextern "C" {\n#endif\nstruct a { int b; };\n', 'C'],
    ['a.h', '/*\n class of devices\n namespace of names\n*/\n#include <string.h>\n', 'C'],
    ['a.ts', '<?xml version="1.0"?>\n<!DOCTYPE TS>', 'XML'],
    ['a.m', 'function y = f(x)\n', 'MATLAB'],
    ['a.m', '#import <Foundation/Foundation.h>\n', 'Objective-C'],
    ['a.pl', ':- module(x, []).\n', 'Prolog'],
    ['a.inc', '<?php echo 1;', 'PHP'],
    ['a.v', 'Theorem x : forall y, y = y.\n', 'Rocq Prover'],
    ['i386.md', '(define_insn "x"\n', 'GCC Machine Description'],
    ['a.rs', 'fn main() {}\n', 'Rust'],
    // Signs of our own, written for extensions that linguist's samples showed to be named wrongly.
    ['a.m', 'ROUTINE ;JOHN - a routine\n ;;1.0\n set x=1\n quit\n', 'M'],
    ['a.m', 'x = linspace(0, 1);\n', 'MATLAB'],
    ['a.bas', 'Attribute VB_Name = "Sheet"\nSub A()\n', 'VBA'],
    ['a.bas', 'Attribute VB_Name = "M"\nDeclare Function F Lib "user32" ()\n', 'Visual Basic 6.0'],
    ['a.bas', 'DECLARE SUB Draw (x)\n', 'QuickBASIC'],
    ['a.cls', 'VERSION 1.0 CLASS\nBEGIN\n  MultiUse = -1\nEND\n', 'VBA'],
    ['a.cls', 'VERSION 1.0 CLASS\nBEGIN\n  Persistable = 0\nEND\n', 'Visual Basic 6.0'],
    ['a.cls', '\\NeedsTeXFormat{LaTeX2e}\n', 'TeX'],
    ['a.sql', "CREATE FUNCTION f() RETURNS int AS $$ $$ LANGUAGE 'plpgsql';\n", 'PLpgSQL'],
    ['a.sql', 'CREATE FUNCTION f() RETURNS int AS $$ $$ LANGUAGE sql;\n', 'SQL'],
    ['a.sql', 'create table a (b varchar2(3));\n', 'PLSQL'],
    ['a.sql', 'DECLARE @a int = 1;\nGO\n', 'TSQL'],
    ['a.sql', 'SET @OLD_CHECKS=@@UNIQUE_CHECKS;\n', 'SQL'],
    ['a.inc', '#pragma newdecls required\nnative void F(int a);\n', 'SourcePawn'],
    ['a.inc', 'native F(Float:a);\n', 'Pawn'],
    ['a.inc', '#pragma once\nint a;\n', 'C++'],
    ['a.s', '\t.globl main\nmain:\n', 'Unix Assembly'],
    ['a.s', 'TEXT \u00b7f(SB), NOSPLIT, $0\n', 'Assembly'],
    ['a.s', '\tmove.l d0,(a0)+\n', 'Motorola 68K Assembly'],
    ['a.pm', 'my class A is B {\n  has $.c;\n}\n', 'Raku'],
    ['a.pm', 'package A;\nuse Moose;\nhas b => (is => "ro");\n', 'Perl'],
    ['a.mo', 'model A\n  Real x;\nend A;\n', 'Modelica'],
    ['a.mo', '\u00de\u0012\u0004\u0095\0\0\0\0', ''],
    ['a.yaml', 'A:\n\tB: 1\n', 'MiniYAML'],
    ['a.yaml', 'a:\n  b: 1\n', 'YAML'],
    ['a.bb', '; tasks\n(ns tasks)\n(defn run [x] x)\n', 'Clojure'],
    ['a.bb', '; Globals\nGlobal a = 1\n', 'BlitzBasic'],
    ['a.bb', 'SUMMARY = "a"\ninherit autotools\n', 'BitBake'],
    ['a.1', '.TH A 1\n', 'Roff Manpage'],
    ['a.1', '.so man1/b.1\n', 'Roff'],
    ['a.t', 'use strict;\nmy $x = 1;\n', 'Perl'],
    ['a.t', 'terra f(a : int) return a end\n', 'Terra'],
    ['a.ex', 'defmodule A do\nend\n', 'Elixir'],
    ['a.ex', 'include std/io.e\n', 'Euphoria'],
    ['a.md', ';; Machine description\n(define_insn "x"\n', 'GCC Machine Description'],
    ['a.sch', '<?xml version="1.0"?>\n<!DOCTYPE eagle>\n<eagle>', 'Eagle'],
    ['a.gd', '## Comment of a node.\nextends Node\n', 'GDScript'],
  ];
  for (const [path, head, language] of cases)
    for (const mark of ['', '\xef\xbb\xbf']) {
      const content = Buffer.from(mark + head, 'latin1');
      assert.equal(detectLanguage(path, content), language, `${path} ${head}`);
      // As builds ask, who know of modelines once for all paths of a content.
      assert.equal(languageOfPath(path, content, new Map()), language, `${path} ${head}`);
    }
});

test('content after the first 4 KiB, and outside of a view, is not read', () => {
  const late = `${'// x\n'.repeat(2000)}namespace x {\n`;
  assert.equal(detectLanguage('a.h', Buffer.from(late)), 'C');
  const shared = Buffer.from('int a;\nnamespace x {\n');
  assert.equal(detectLanguage('a.h', shared.subarray(0, 7)), 'C');
  assert.equal(detectLanguage('a.h', shared.subarray(7)), 'C++');
});

test('headers have the language of sources in their folder', () => {
  const folders = findHeaderFolders('c/a.c c/a.h p/a.cpp p/b.cc x/a.c x/b.cpp o/a.m'.split(' '));
  assert.deepEqual(
    [...folders],
    [
      ['c', 'C'],
      ['p', 'C++'],
    ],
  );
  const none = Buffer.alloc(0);
  assert.equal(detectLanguage('p/a.h', none, folders), 'C++');
  assert.equal(detectLanguage('c/a.h', Buffer.from('namespace x {\n'), folders), 'C');
  assert.equal(detectLanguage('x/a.h', Buffer.from('namespace x {\n'), folders), 'C++');
  assert.equal(detectLanguage('x/a.h', none, folders), 'C');
});

test('names in user spelling', () => {
  const cases: [string, string | undefined][] = [
    ['go', 'Go'],
    ['GOLANG', 'Go'],
    ['c++', 'C++'],
    ['cpp', 'C++'],
    ['ts', 'TypeScript'],
    [' common-lisp ', 'Common Lisp'],
    ['Jupyter-Notebook', 'Jupyter Notebook'],
    ['nosuch', undefined],
    ['', undefined],
  ];
  for (const [text, language] of cases) assert.equal(resolveLanguage(text), language, text);
});

test('.gitattributes', () => {
  const attributes = new Attributes([
    { folder: 'deep/er', text: '*.x linguist-language=Go\nmine linguist-vendored=false\n' },
    {
      folder: '',
      text: [
        '# comment linguist-language=C',
        '[attr]macro linguist-language=C',
        '*.x linguist-language=Common-Lisp text',
        '/only.y linguist-language=ruby',
        'dir/*.z linguist-language=C++',
        'third/** linguist-vendored',
        'gen/*.go linguist-generated=true -diff',
        '"sp ace.x" linguist-language=Rust',
        'last.x linguist-language=Java',
        'last.x linguist-language=Kotlin',
        'unset.x !linguist-language',
        'odd.x linguist-language=NoSuch',
        'site/** linguist-documentation',
        '[ab].q linguist-language=C',
        '[[:toString:]]*.q linguist-language=Java',
      ].join('\r\n'),
    },
    { folder: 'third', text: 'mine -linguist-vendored\n' },
  ]);
  const cases: [string, object][] = [
    ['a.x', { language: 'Common Lisp' }],
    ['sub/a.x', { language: 'Common Lisp' }],
    ['deep/er/a.x', { language: 'Go' }],
    ['only.y', { language: 'Ruby' }],
    ['sub/only.y', {}],
    ['dir/a.z', { language: 'C++' }],
    ['dir/sub/a.z', {}],
    ['third/a/b.c', { isVendored: true }],
    ['third/mine', { isVendored: false }],
    ['gen/a.go', { isGenerated: true }],
    ['sp ace.x', { language: 'Rust' }],
    ['last.x', { language: 'Kotlin' }],
    ['unset.x', {}],
    ['odd.x', {}],
    ['site/a', {}],
    ['a.q', { language: 'C' }],
    ['macro', {}],
    ['attr', {}],
  ];
  for (const [path, expected] of cases) assert.deepEqual(attributes.of(path), expected, path);
  assert.deepEqual(new Attributes([]).of('a'), {});
  assert.deepEqual(attributePathsAbove('a/b/c'), [
    '.gitattributes',
    'a/.gitattributes',
    'a/b/.gitattributes',
  ]);
});

test('modelines of editors come first', () => {
  const filler = 'x\n'.repeat(5000);
  const cases: [path: string, content: string, language: string][] = [
    ['vector', '// -*- C++ -*-\nclass V {};\n', 'C++'],
    ['cursesw.h', '// * This makes emacs happy -*-Mode: C++;-*-\n#ifndef X\n', 'C++'],
    ['Thing', 'x\n# vim: set ft=ruby:\n', 'Ruby'],
    ['Thing', `${filler}# vim: set ft=ruby :\n\n\n`, 'Ruby'],
    ['Thing', `${filler}# vim: set ft=ruby :\n${filler}`, ''],
    ['a.txt', '; -*- tab-width: 2; mode: scheme; -*-\n', 'Scheme'],
    ['a.c', '/* -*- tab-width: 8 -*- */\n', 'C'],
    ['a.c', '/* -*- linux-c -*- */\n', 'C'],
    ['a', '/* vim600: ts=4:ft=php:sw=4 */\n', 'PHP'],
    ['a', '# vi: syntax=python\n', 'Python'],
    ['a', ' ex: ft=lua\n', 'Lua'],
    ['a', 'index: ft=lua\n', ''],
    ['a', 'vim: ft=nosuchthing\n', ''],
    ['a', 'vim: softtabstop=4\n', ''],
    ['a.py', '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n', 'Python'],
    ['a', '1\n2\n3\n4\n5\n# -*- Ruby -*-\n7\n8\n9\n10\n11\n', ''],
    ['constructor', '-*- constructor -*-', ''],
  ];
  for (const [path, content, language] of cases)
    assert.equal(detectLanguage(path, Buffer.from(content)), language, content.slice(-60));
});
