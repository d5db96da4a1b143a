// The figures of documents are those of the stored run, which is of this version.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FIGURE_TABLES, readCurves, readFigures, withTable } from '../../bench/figures.ts';
import { readProductVersion } from '../../daemon/base/config/version.ts';

const REMEDY = 'node build/bench/figures.js RECORD, with a record of npm run bench -- --out RECORD';

test('tables of figures are those of the stored run', () => {
  for (const { file, name, make } of FIGURE_TABLES) {
    const text = readFileSync(file, 'utf8');
    assert.equal(withTable(text, name, make()), text, `${file}: ${REMEDY}`);
  }
});

test('the stored runs are of this version', () => {
  assert.equal(readFigures().product, readProductVersion(), REMEDY);
  assert.equal(
    readCurves().product,
    readProductVersion(),
    'node build/bench/figures.js RECORDS, of curves.js',
  );
});
