// Each package, module or function for the outside world (network, processes, environment, SQL ...) is used only by the files
// listed here.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { filesBelow, importsOf } from './imports.ts';

interface AllowedUse {
  readonly what: string;
  /** A package or module that is imported, or a pattern of code. */
  readonly module?: readonly string[];
  readonly code?: RegExp;
  /** Files or folders (with `/`) that may. */
  readonly locations: readonly string[];
}

const ALLOWED_USES: readonly AllowedUse[] = [
  {
    what: 'uWebSockets.js',
    module: ['uWebSockets.js'],
    locations: ['daemon/http/adapters/uws-adapter.ts'],
  },
  { what: 'node:http', module: ['node:http'], locations: ['daemon/http/', 'daemon/cli/'] },
  {
    what: 'WebAssembly',
    code: /\bWebAssembly\.(?!Module\b|Memory;|Memory,)\w+/,
    // Besides the core there are the grammars of tree-sitter.
    locations: ['daemon/engine/host/', 'daemon/engine/symbols/tree-program.ts'],
  },
  { what: 'tree-sitter', module: ['web-tree-sitter'], locations: ['daemon/engine/symbols/'] },
  {
    what: 'functions of the system',
    code: /@koromix\/koffi|\/libc\.ts'/,
    locations: [
      'daemon/base/libc.ts',
      'daemon/base/notices.ts',
      // Ends a process whose threads wait in the kernel.
      'daemon/cli/process-context.ts',
      'daemon/base/priority.ts',
      'daemon/engine/host/mapping.ts',
      'daemon/base/spawn.ts',
      'daemon/http/adapters/more-listeners.ts',
      'daemon/http/adapters/stall-timer.ts',
      'daemon/index/catalog/lock.ts',
    ],
  },
  {
    what: 'other programs',
    module: ['node:child_process', 'nano-spawn'],
    // Only git is run, ctags, and parsers; and the pager of a terminal.
    locations: ['daemon/base/spawn.ts', 'daemon/cli/pager.ts'],
  },
  {
    what: 'the environment',
    code: /\bprocess\.env\b/,
    // sources/git/git.ts passes named variables on to git: a proxy, a home, a certificate; engine/symbols/confine.ts looks for ctags
    // along PATH.
    locations: [
      'daemon/base/config/',
      'daemon/cli/',
      'daemon/sources/git/git.ts',
      'daemon/engine/symbols/confine.ts',
    ],
  },
  {
    what: 'starting a program',
    code: /\bstartProgram\(/,
    // sources/git/git.ts gives each git the settings that keep a repository from running programs.
    locations: [
      'daemon/base/spawn.ts',
      'daemon/sources/git/git.ts',
      'daemon/engine/symbols/confine.ts',
    ],
  },
  {
    what: 'requests to other machines',
    module: ['undici'],
    locations: [
      'daemon/hosts/',
      'daemon/base/config/dispatcher.ts',
      'daemon/base/config/fetch-address.ts',
      'daemon/accounts/sign-on/issuer-fetch.ts',
    ],
  },
  {
    what: 'the protocol of tools',
    code: /'@modelcontextprotocol\//,
    locations: ['daemon/api/mcp/', 'daemon/cli/tool-pipe.ts', 'daemon/cli/tool-calls.ts'],
  },
  {
    what: 'the protocol of sign-on',
    module: ['openid-client'],
    locations: ['daemon/accounts/sign-on/'],
  },
  { what: 'arguments', code: /\bprocess\.argv\b/, locations: ['daemon/cli/'] },
  {
    what: 'standard output',
    code: /\bconsole\.|process\.stdout/,
    // A parser answers by its pipe.
    locations: ['daemon/cli/', 'daemon/engine/symbols/tree-program.ts'],
  },
  { what: 'MessagePack', module: ['msgpackr/pack'], locations: ['daemon/http/'] },
  {
    what: 'the API description',
    module: ['zod-openapi'],
    code: /\bswagger-ui-dist\b/,
    locations: ['daemon/api/'],
  },
  { what: 'metrics', module: ['prom-client'], locations: ['daemon/app/metrics.ts'] },
  {
    what: 'traces',
    code: /'@opentelemetry\//,
    locations: ['daemon/app/traces.ts'],
  },
  { what: 'pino', module: ['pino'], locations: ['daemon/base/log.ts'] },
  { what: 'SQL', module: ['kysely', 'libsql', 'pg'], locations: ['daemon/store/'] },
  { what: 'commander', module: ['commander'], locations: ['daemon/cli/'] },
  { what: 'jose', module: ['jose'], locations: ['daemon/accounts/'] },
  { what: 'argon2', module: ['@node-rs/argon2'], locations: ['daemon/accounts/'] },
];

const FILES = filesBelow('daemon', '.ts').filter((file) => !file.endsWith('.d.ts'));
const IMPORTS = importsOf(FILES);

/** The code without comments of whole lines. */
function codeOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
}

function usersOf({ module = [], code }: AllowedUse): string[] {
  const importing = IMPORTS.filter(({ target }) => module.includes(target)).map(({ file }) => file);
  const naming = code === undefined ? [] : FILES.filter((file) => code.test(codeOf(file)));
  return [...new Set([...importing, ...naming])];
}

test('no file of the daemon makes the API description: that takes 0.3 s, and the build does it', () => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const one of IMPORTS) if (one.file === file) visit(one.target);
  };
  visit('daemon/cli/main.ts');
  assert.ok(reached.has('daemon/api/instance/description-endpoints.ts'));
  assert.equal(reached.has('zod-openapi'), false);
});

for (const allowed of ALLOWED_USES) {
  test(`${allowed.what}: used only by the listed files`, () => {
    const users = usersOf(allowed);
    const isAllowed = (user: string): boolean =>
      allowed.locations.some(
        (location) => user === location || (location.endsWith('/') && user.startsWith(location)),
      );
    assert.deepEqual(
      users.filter((user) => !isAllowed(user)),
      [],
    );
    assert.ok(users.length > 0, 'nothing uses it');
  });
}
