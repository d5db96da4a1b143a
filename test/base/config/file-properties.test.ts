// A configuration that is right, printed in any form that JSON with comments has, reads back as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseConfiguration } from '../../../daemon/base/config/file.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const words = fc.array(word, { minLength: 1, maxLength: 3 });
const address = fc
  .tuple(word, fc.constantFrom('', ':8443', '/git', '/git//'))
  .map(([host, rest]) => `https://${host}.example.com${rest}`);
const glob = fc.constantFrom('**', 'a*', 'x/{y,z}/[a-c]?', 'host/ü "q" \\ //no comment /*none*/');
const globs = fc.array(glob, { minLength: 1, maxLength: 3 });
const variable = fc.stringMatching(/^[A-Z][A-Z_]{0,12}$/);
const secret = fc.oneof(
  fc.record({ env: variable }),
  fc.record({ file: word.map((name) => `/${name}`) }),
);
const flag = fc.boolean();
const pairs = fc.array(
  fc.tuple(word, word).map((parts) => parts.join('/')),
  { minLength: 1, maxLength: 2 },
);

/** All keys that are not named may be missing. */
function some<Model extends Record<string, fc.Arbitrary<unknown>>>(
  model: Model,
  ...requiredKeys: (keyof Model & string)[]
): fc.Arbitrary<object> {
  return fc.record(model, { requiredKeys });
}

const common = {
  revisions: some({ branches: globs, tags: globs }),
  enforcePermissions: flag,
  enforcePermissionsForPublicRepos: flag,
  tls: some({ caFile: word }),
  submodules: flag,
  keepDeleted: flag,
};
const type = (name: string): fc.Arbitrary<string> => fc.constant(name);
const size = some({ min: fc.nat(100), max: fc.integer({ min: 100 }) });

const connection = fc.oneof(
  some(
    {
      ...common,
      type: type('github'),
      token: secret,
      url: address,
      orgs: words,
      repos: pairs,
      topics: globs,
      syncPermissions: flag,
      exclude: some({ forks: flag, archived: flag, repos: globs, topics: globs, size }),
    },
    'type',
    'orgs',
  ),
  some(
    {
      ...common,
      type: type('gitlab'),
      token: secret,
      url: address,
      webUrl: address,
      groups: words,
      projects: pairs,
      exclude: some({ userOwnedProjects: flag, projects: globs }),
    },
    'type',
    'groups',
  ),
  some({ ...common, type: type('gitea'), users: words, url: address }, 'type', 'users'),
  some(
    { ...common, type: type('gerrit'), url: address, projects: globs, user: word },
    'type',
    'url',
  ),
  some(
    { ...common, type: type('bitbucket'), repos: pairs, user: word, gitUser: word },
    'type',
    'repos',
  ),
  some(
    {
      ...common,
      type: type('azuredevops'),
      token: secret,
      deploymentType: fc.constant('cloud'),
      useTfsPath: flag,
      orgs: words,
    },
    'type',
    'token',
    'deploymentType',
  ),
  some(
    { ...common, type: type('git'), url: address, token: secret, user: word, name: word },
    'type',
    'url',
  ),
  some(
    {
      ...common,
      type: type('git'),
      url: glob.map((text) => `file:///srv/${text.replaceAll(/[\s"\\]/g, '')}`),
      mode: fc.constant('worktree'),
      ignore: globs,
    },
    'type',
    'url',
    'mode',
  ),
);

const content = some({
  $schema: address,
  settings: some({
    maxMatchCount: fc.integer({ min: 1 }),
    searchTimeoutMs: fc.nat(),
    rateLimit: some({ requestsPerDay: fc.option(fc.integer({ min: 1 })), contact: word }),
    webhooks: some({ secret }),
    logLevel: fc.constantFrom('debug', 'error'),
    trustedProxies: fc.constant(['10.0.0.0/8', '::1']),
  }),
  connections: fc.dictionary(fc.stringMatching(/^[A-Za-z0-9-]{1,6}$/), connection, { maxKeys: 3 }),
  contexts: fc.dictionary(
    fc.constantFrom('web', 'a b', 'größe'),
    some({ include: globs, exclude: globs, excludeTopics: words, description: word }, 'include'),
  ),
  permissions: some({
    groups: fc.constant({ core: ['ann@example.com'], none: [] }),
    grants: fc.array(
      some({ to: fc.constant(['everyone', 'user:bob@example.com']), repos: globs }, 'to', 'repos'),
      {
        maxLength: 2,
      },
    ),
  }),
  apps: fc.array(
    some(
      { type: type('githubApp'), id: fc.integer({ min: 1 }), privateKey: secret, url: address },
      'type',
      'id',
      'privateKey',
    ),
    { maxLength: 2 },
  ),
});

/** Prints a value with what `gap` gives between its parts; a comma behind the last one where that holds a comment. */
function print(value: unknown, gap: () => string): string {
  const around = (open: string, parts: string[], close: string): string => {
    const comma = parts.length > 0 && gap().includes('/*') ? ',' : '';
    return open + parts.map((part) => gap() + part + gap()).join(',') + comma + gap() + close;
  };
  if (Array.isArray(value))
    return around(
      '[',
      value.map((one) => print(one, gap)),
      ']',
    );
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}${gap()}:${gap()}${print(one, gap)}`,
  );
  return around('{', parts, '}');
}

const GAPS = ['', ' ', '\n', '\r\n\t', '// "a": 1, }\n', '/* "b": 2, // ] */', ' /**/ '];

void test('printed in any form a configuration reads back as it was', () => {
  fc.assert(
    fc.property(content, fc.infiniteStream(fc.constantFrom(...GAPS)), (given, gaps) => {
      const gap = (): string => gaps.next().value;
      const plain = parseConfiguration('f', JSON.stringify(given));
      assert.deepEqual(parseConfiguration('f', gap() + print(given, gap) + gap()), plain);
      // With its defaults it is the same, too.
      const { settings, permissions, connections, contexts, apps } = plain;
      const full = { settings, permissions, connections, contexts, apps };
      assert.deepEqual(parseConfiguration('f', print(full, gap)), plain);
    }),
  );
});
