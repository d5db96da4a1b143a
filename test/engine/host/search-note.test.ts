// The file of notes: all its bytes are allocated on disk before it is mapped; without disk space there is no file,
// and searches continue.

import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { makeNotes, SearchNote } from '../../../daemon/engine/host/search-note.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';

void test('all pages are resident before they are touched', () => {
  const file = path.join(temporaryFolder(), 'searching');
  makeNotes(file);
  const { size, blocks } = statSync(file);
  assert.ok(size > 0);
  assert.ok(blocks * 512 >= size, `${blocks} blocks for ${size} bytes`);
});

void test('a note that cannot be created is skipped, and threads work without it', () => {
  const file = path.join(temporaryFolder(), 'gone', 'searching');
  assert.throws(() => makeNotes(file), { code: 'ENOENT' });
  assert.equal(existsSync(file), false);
  assert.equal(SearchNote.open(file, 1), undefined);
});
