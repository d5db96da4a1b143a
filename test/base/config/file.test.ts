// The configuration file: comments and commas, settings and permissions, refusals with line, key and what is allowed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { configuredGrants } from '../../../daemon/accounts/configured-grants.ts';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { ConfigError } from '../../../daemon/base/config/error.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';

const folder = temporaryFolder();

function read(text: string) {
  const file = path.join(folder, 'trawl.json');
  writeFileSync(file, text);
  return readConfiguration({ env: { TRAWL_CONFIG: file }, folder });
}

function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return assert.fail(`accepted: ${text}`);
}

void test('settings and permissions, with comments and trailing commas', () => {
  const { settings, permissions } = read(`{
    // What programs may do.
    "settings": { "rateLimit": { "requestsPerDay": 500, }, "maxMatchCount": 7, /* few */ },
    "permissions": {
      "groups": { "core": ["Ann@example.com"] },
      "grants": [
        { "to": ["group:core", "user:bob@example.com"], "repos": ["host/core-*"] },
        { "to": ["everyone"], "repos": ["host/{a,b}/**"] },
      ],
    },
  }`);
  assert.equal(settings.rateLimit.requestsPerDay, 500);
  assert.equal(settings.maxMatchCount, 7);
  const [first, second] = configuredGrants(permissions);
  assert.deepEqual([...first!.emails], ['ann@example.com', 'bob@example.com']);
  assert.deepEqual([first!.covers('host/core-x'), first!.covers('host/x')], [true, false]);
  assert.deepEqual([second!.isForEveryone, second!.covers('host/b/c/d')], [true, true]);
  assert.deepEqual(read('{}').permissions, { groups: {}, grants: [] });
});

void test('what is wrong is refused with its line', () => {
  const cases: [string, RegExp][] = [
    [
      '{\n"settings": {\n"maxMatchCount": 0\n}}',
      /^line 3: settings\.maxMatchCount: 0; allowed: integers from 1/,
    ],
    [
      '{\n"settings": {\n"maxMatchcount": 5\n}}',
      /^line 3: settings\.maxMatchcount: 5; no such setting; allowed: .*maxMatchCount, /,
    ],
    ['{\n\n"models": {}}', /trawl\.json:3: models; not supported; allowed: .*settings/],
    ['{"connections": {}}', /:1: connections; not supported/],
    ['{\n"settings": {', /:2: the text; /],
    ['[]', /:1: the text; expected an object/],
    ['{"settings": 5}', /settings; expected an object/],
    [
      '{"permissions": {\n"grants": [{\n"to": ["bob"], "repos": ["x"]}]}}',
      /:3: permissions\.grants\.0\.to\.0; expected user:/,
    ],
    [
      '{"permissions": {"grants": [{"to": ["group:none"], "repos": ["x"]}]}}',
      /no group for group:none/,
    ],
    ['{"permissions": {"groups": {"a": ["nobody"]}}}', /expected an e-mail address/],
    ['{"permissions": {"teams": {}}}', /permissions/],
  ];
  for (const [text, message] of cases) assert.match(refusal(text), message, text);
  assert.throws(
    () => readConfiguration({ env: { TRAWL_CONFIG: 'absent.json' }, folder }),
    /TRAWL_CONFIG: "absent\.json"|ENOENT/,
  );
});

void test('the file read again: what changed is named and counts; a refused one changes nothing', () => {
  const configuration = read('{"settings": {"memory": 5}, "permissions": {"grants": []}}');
  const { settings, permissions, file } = configuration;
  assert.deepEqual(configuration.readAgain(), []);
  assert.equal(configuration.settings, settings);
  writeFileSync(
    file ?? '',
    '{"settings": {"maxMatchCount": 7}, "permissions": {"groups": {"a": []}}}',
  );
  assert.deepEqual([...configuration.readAgain()].sort(), [
    'maxMatchCount',
    'memory',
    'permissions',
  ]);
  const now = [configuration.settings.maxMatchCount, configuration.settings.memory];
  assert.deepEqual(now, [7, 536870912]);
  assert.notEqual(configuration.permissions, permissions);
  writeFileSync(file ?? '', '{"settings": {"maxMatchCount": 8, "nosuch": 1}}');
  assert.throws(() => configuration.readAgain(), ConfigError);
  assert.equal(configuration.settings.maxMatchCount, 7);
});

void test('a pipe, a device or a folder is refused instead of being waited for', () => {
  const pipe = path.join(folder, 'pipe.json');
  execFileSync('mkfifo', [pipe]);
  for (const file of [pipe, '/dev/zero', folder]) {
    assert.throws(
      () => readConfiguration({ env: { TRAWL_CONFIG: file }, folder }),
      (error) => error instanceof ConfigError && error.message.includes('; no file; allowed: a'),
    );
  }
});
