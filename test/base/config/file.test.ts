// The configuration file: comments and commas, all its parts, refusals with line, key and allowed values, and the
// report after a reload.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { configuredGrants } from '../../../daemon/accounts/configured-grants.ts';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { ConfigError, RefusedFileError } from '../../../daemon/base/config/error.ts';
import { parseConfiguration } from '../../../daemon/base/config/file.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { WRONG_FILES } from './wrong-files.ts';

const folder = temporaryFolder();

function read(text: string) {
  const file = path.join(folder, 'trawl.json');
  writeFileSync(file, text);
  return readConfiguration({ env: { TRAWL_CONFIG: file }, folder });
}

function diagnosticsIn(text: string): readonly string[] {
  try {
    parseConfiguration('f', text);
  } catch (error) {
    assert.ok(error instanceof RefusedFileError, String(error));
    assert.equal(error.message, error.diagnostics.join('\n'));
    return error.diagnostics;
  }
  return assert.fail(`accepted: ${text}`);
}

void test('settings and permissions, with comments and trailing commas', () => {
  const { settings, permissions } = read(`\uFEFF{
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

void test('connections, contexts and apps with their defaults', () => {
  const { connections, contexts, apps, notices } = read(`{
    "connections": {
      "acme": { "type": "github", "orgs": ["acme"], "token": { "env": "NO_SUCH_VARIABLE" } },
      "own": { "type": "gitlab", "url": "https://git.example.com/lab/", "all": true },
      "all": { "type": "gerrit", "url": "https://review.example.com" },
      "disk": { "type": "git", "url": "file:///srv/git/*/*.git", "mode": "worktree", "ignore": ["*.min.js"] },
    },
    "contexts": { "web": { "include": ["github.com/acme/web-*"] } },
    "apps": [{ "type": "githubApp", "id": 7, "privateKey": { "file": "/run/secrets/app" } }],
    "identityProviders": {
      "sso": {
        "type": "oidc", "issuer": "https://id.example.com", "clientId": "trawl",
        "clientSecret": { "env": "SSO_SECRET" }
      }
    }
  }`);
  assert.deepEqual(connections['acme'], {
    type: 'github',
    revisions: { branches: [], tags: [] },
    enforcePermissions: false,
    enforcePermissionsForPublicRepos: false,
    tls: {},
    submodules: false,
    keepDeleted: false,
    syncPermissions: false,
    token: { env: 'NO_SUCH_VARIABLE' },
    url: 'https://github.com',
    users: [],
    orgs: ['acme'],
    repos: [],
    topics: [],
    exclude: { forks: false, archived: false, repos: [], topics: [] },
  });
  const { own } = connections;
  assert.equal(own?.type === 'gitlab' && own.all && own.url, 'https://git.example.com/lab');
  assert.deepEqual(Object.keys(connections), ['acme', 'own', 'all', 'disk']);
  assert.deepEqual(contexts['web'], {
    include: ['github.com/acme/web-*'],
    exclude: [],
    includeConnections: [],
    excludeConnections: [],
    includeTopics: [],
    excludeTopics: [],
  });
  assert.deepEqual(
    apps.map(({ id, url }) => [id, url]),
    [[7, 'https://github.com']],
  );
  assert.deepEqual(notices, []);
});

void test('errors are reported with line, key and allowed values, all of them', () => {
  for (const { text, expected } of WRONG_FILES)
    assert.deepEqual(
      diagnosticsIn(text),
      expected.map((line) => `f:${line}`),
      text,
    );
});

void test('of many errors the first twenty are reported, with the number of the rest', () => {
  const keys = Array.from({ length: 25 }, (_, i) => `"key${i}": ${i}`);
  const diagnostics = diagnosticsIn(`{\n${keys.join(',\n')}\n}`);
  assert.equal(diagnostics.length, 21);
  assert.match(diagnostics[0]!, /^f:2: key0: no such key/);
  assert.equal(diagnostics.at(-1), 'f: and 5 more');
});

void test('a text that is nested too deeply is refused', () => {
  const depth = 200_000;
  assert.match(diagnosticsIn(`{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`)[0]!, /too deeply/);
});

void test('no error message contains a possible secret', () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const locations = [
    `"connections": {"a": {"type": "github", "orgs": ["x"], "token": "${secret}"}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "token": ["${secret}"]}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "token": {"env": "${secret}"}}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "token": {"evn": "${secret}"}}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "tokn": "${secret}"}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "url": "https://u:${secret}@host"}}`,
    `"connections": {"a": {"type": "github", "orgs": ["x"], "url": "https://host?t=${secret}"}}`,
    `"connections": {"a": {"type": "git", "url": "https://u:${secret}@host/x"}}`,
    `"connections": {"a": {"type": "git", "url": "ftp://u:${secret}@host/x"}}`,
    `"connections": {"a": {"type": "${secret}"}}`,
    `"connections": {"a": "${secret}"}`,
    `"apps": [{"type": "githubApp", "id": 1, "privateKey": "${secret}"}]`,
    `"settings": {"webhooks": {"secret": "${secret}"}}`,
    `"settings": {"webhooks": "${secret}"}`,
    `"secret": "${secret}"`,
    `"a": "${secret}" "b"`,
  ];
  for (const file of locations) {
    const reported = diagnosticsIn(`{${file}}`).join('\n');
    assert.ok(
      !reported.includes(secret) && !reported.includes(secret.slice(4)),
      `${file}: ${reported}`,
    );
  }
});

void test('reading again: changes are named and applied; an invalid file changes nothing', () => {
  const configuration = read('{"settings": {"memory": 5}, "permissions": {"grants": []}}');
  const { settings, permissions, source } = configuration;
  const write = (text: string): void => writeFileSync(source?.name ?? '', text);
  assert.deepEqual(configuration.readAgain(), []);
  assert.equal(configuration.settings, settings);
  write('{"settings": {"maxMatchCount": 7}, "permissions": {"groups": {"a": []}}}');
  assert.deepEqual([...configuration.readAgain()].sort(), [
    'maxMatchCount',
    'memory',
    'permissions',
  ]);
  const now = [configuration.settings.maxMatchCount, configuration.settings.memory];
  assert.deepEqual(now, [7, 536870912]);
  assert.notEqual(configuration.permissions, permissions);
  write('{"settings": {"maxMatchCount": 8, "nosuch": 1}}');
  assert.throws(() => configuration.readAgain(), ConfigError);
  assert.equal(configuration.settings.maxMatchCount, 7);
});

void test('reading again: changed connections and contexts are named, unchanged ones stay the same objects', () => {
  const a = '"a": {"type": "github", "orgs": ["x"]}';
  const b = (name: string): string => `"b": {"type": "gitea", "orgs": ["${name}"]}`;
  const configuration = read(`{"connections": {${a}, ${b('x')}}}`);
  const { connections } = configuration;
  writeFileSync(
    configuration.source?.name ?? '',
    `{"connections": {${b('y')}, ${a}}, "contexts": {"c": {"include": ["*"]}}}`,
  );
  assert.deepEqual(configuration.readAgain(), ['connections.b', 'contexts.c']);
  assert.equal(configuration.connections['a'], connections['a']);
  assert.notEqual(configuration.connections['b'], connections['b']);
  writeFileSync(configuration.source?.name ?? '', `{"connections": {${b('y')}}, "apps": []}`);
  assert.deepEqual(configuration.readAgain(), ['connections.a', 'contexts.c']);
});

void test('a pipe, a device, a folder or a huge file is refused without waiting', () => {
  const pipe = path.join(folder, 'pipe.json');
  execFileSync('mkfifo', [pipe]);
  const refuses = (file: string, reported: string): void =>
    assert.throws(
      () => readConfiguration({ env: { TRAWL_CONFIG: file }, folder }),
      (error) => error instanceof ConfigError && error.message.includes(reported),
    );
  for (const file of [pipe, '/dev/zero', folder]) refuses(file, '; no file; allowed: a');
  const huge = path.join(folder, 'huge.json');
  writeFileSync(huge, `{}${' '.repeat(4 * 1024 * 1024)}`);
  refuses(huge, 'too large; allowed: 4194304 bytes');
  refuses('absent.json', 'ENOENT');
});
