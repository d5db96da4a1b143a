// The hash algorithm of a repository, as git reads it from the configuration.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { objectFormatOf } from '../../../daemon/sources/git/object-format.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

const VERSION = '[core]\nrepositoryformatversion = 1\n';

test('the hash algorithm is that of git, in any spelling', () => {
  const repo = makeRepo({ 'a.txt': 'a' });
  const texts = [
    '',
    '[extensions]\n\tobjectformat = sha256\n',
    '[extensions]\nobjectFormat=sha1\n',
    '[Extensions] ObjectFormat = "sha256" ; so it is\n',
    '[extensions]\n# objectformat = sha256\n',
    '[extensions] # objectformat = sha256\n',
    '[extensions]\nnoop = objectformat = sha256\n',
    '[other]\nobjectformat = sha256\n',
    '[other]\nx = y\n  [extensions]\r\n\n  objectformat\t=sha256\r\n[more]\nx = y\n',
  ];
  const parsed = texts.map((text) => {
    writeFileSync(path.join(repo, '.git/config'), VERSION + text);
    const format = git(repo, 'rev-parse', '--show-object-format');
    assert.equal(objectFormatOf(repo), format, text);
    return format;
  });
  assert.equal(parsed.filter((format) => format === 'sha256').length, 3);
});

test('a folder without git has the default algorithm of git', () => {
  const folder = temporaryFolder();
  assert.equal(objectFormatOf(folder), 'sha1');
  writeFiles(folder, { '.git/readme': 'none' });
  assert.equal(objectFormatOf(folder), 'sha1');
});
