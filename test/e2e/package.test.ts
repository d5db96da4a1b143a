// The package of a release, as users get it: packed, installed into an empty folder, run on a repository. npm takes the native
// packages from its cache, else from the registry.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { runProgram } from '../base/run-program.ts';
import { makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { eventually, pathsOf, search, startTrawl } from './daemon.ts';

const folder = temporaryFolder();
const modules = path.join(folder, 'node_modules');
const COMMAND = path.join(modules, '.bin', 'trawl');

interface Manifest {
  readonly version: string;
  readonly dependencies?: unknown;
  readonly scripts?: unknown;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

function manifestOf(place: string): Manifest {
  return JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8')) as Manifest;
}

const own = manifestOf('.');
const TARBALL = `trawl-${own.version}.tgz`;

before(() => {
  const { env } = process;
  const packed = runProgram(process.execPath, ['scripts/pack.mjs', folder], { cwd: '.', env });
  assert.equal(packed.status, 0, String(packed.stderr));
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  const args = ['install', ...flags, path.join(folder, TARBALL)];
  const { status, stderr } = runProgram('npm', args, { cwd: folder, env });
  assert.equal(status, 0, String(stderr));
});

/** Names of the installed packages, those in scopes with them. */
function installed(): string[] {
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(path.join(modules, name)).map((part) => `${name}/${part}`)
      : [name],
  );
}

test('it brings native parts of this machine and no other package', () => {
  const manifest = manifestOf(path.join(modules, 'trawl'));
  assert.deepEqual([manifest.dependencies, manifest.scripts], [undefined, undefined]);
  const others = installed().filter((name) => name !== 'trawl');
  assert.deepEqual(
    others.filter((name) => manifest.optionalDependencies[name] === undefined),
    [],
  );
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string } | undefined>>;
  };
  for (const name of others) {
    const version = lock.packages[`node_modules/${name}`]?.version;
    assert.equal(manifest.optionalDependencies[name], version, name);
  }
  for (const arch of ['x64', 'arm64'])
    for (const name of [`koffi-linux-${arch}`, `linux-${arch}-gnu`, `argon2-linux-${arch}-gnu`])
      assert.ok(
        Object.keys(manifest.optionalDependencies).some((native) => native.endsWith(`/${name}`)),
        name,
      );
});

test('it serves the folder it is started in: search, symbols, accounts, the page, the reference', async () => {
  const code = 'export function needle(): number {\n  return 1;\n}\n';
  const repo = makeRepo({ 'a.ts': code, 'b.txt': 'needle\n' });
  const args = ['serve', '.', '--port', '0'];
  const running = startTrawl(args, { cwd: repo, main: COMMAND });
  const url = (await running.until(/^Serving on (\S+)$/m))[1] ?? '';
  await eventually(async () => pathsOf(await search(url, 'needle')).length === 2);
  await eventually(async () => pathsOf(await search(url, 'sym:needle')).length === 1);
  const page = await (await fetch(url)).text();
  const script = /src="([^"]+main-[^"]+\.js)"/.exec(page)?.[1] ?? '';
  for (const [file, type] of [
    [script, /javascript/],
    ['/api/reference/swagger-ui-bundle.js', /javascript/],
    ['/api/openapi.json', /json/],
  ] as const) {
    const answer = await fetch(new URL(file, url));
    assert.equal(answer.status, 200, file);
    assert.match(answer.headers.get('content-type') ?? '', type);
    assert.ok((await answer.text()).length > 1000);
  }
  const token = /setup\?token=(\w+)/.exec(running.stderr)?.[1];
  const account = { token, email: 'a@example.com', name: 'A', password: 'a long password' };
  const made = await fetch(new URL('/api/auth/setup', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  });
  assert.equal(made.status, 201);
  assert.equal((await running.stop()).code, 0);
  assert.ok(existsSync(path.join(repo, '.trawl', 'index.db')));
});

test('each document that its README links to is in it', () => {
  const text = readFileSync(path.join(modules, 'trawl', 'README.md'), 'utf8');
  const links = [...text.matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)].map(([, name]) => name ?? '');
  assert.ok(links.length > 5);
  const missing = links.filter((name) => !existsSync(path.join(modules, 'trawl', name)));
  assert.deepEqual(missing, []);
});

test('all that is in it has a licence text, and is in its bill of materials', () => {
  const place = path.join(modules, 'trawl');
  const licences = readFileSync(path.join(place, 'LICENSES.txt'), 'utf8');
  const [, ...blocks] = licences.split(/^-{80}$/m);
  const named = new Set(blocks.flatMap((block) => block.trim().split('\n\n')[0]?.split(', ')));
  for (const block of blocks) assert.match(block, /(copyright|public domain)[^]{300}/i);
  const bom = JSON.parse(readFileSync(path.join(place, 'bom.cdx.json'), 'utf8')) as {
    readonly components: readonly { 'bom-ref': string; name: string; scope: string }[];
  };
  const required = bom.components.filter(({ scope }) => scope === 'required');
  assert.deepEqual(
    required.map((one) => one['bom-ref']).filter((ref) => !named.has(ref)),
    [],
  );
  const optional = bom.components.filter(({ scope }) => scope === 'optional');
  assert.deepEqual(
    optional.map(({ name }) => name).sort(),
    Object.keys(manifestOf(place).optionalDependencies).sort(),
  );
  // Seen from what is there: packages whose files the scripts name; dependencies; grammars; faces.
  const bundle = path.join(place, 'build/bundle');
  const scripts = readdirSync(bundle, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => readFileSync(path.join(bundle, name), 'utf8').replaceAll('\\\n', ''));
  const inScripts = scripts.flatMap((text) =>
    [...text.matchAll(/"node_modules\/((?:@[^/"]+\/)?[^/"]+)\/[^"]+"\(/g)].map(([, name]) => name!),
  );
  const ofGrammars = readdirSync(path.join(place, 'build/grammars')).flatMap((name) => {
    const grammar = /^(\w+)\.wasm\.br$/.exec(name)?.[1]?.replaceAll('_', '-');
    return grammar === undefined ? [] : [`tree-sitter-${grammar}`];
  });
  assert.ok(inScripts.length > 50 && ofGrammars.length > 15);
  const names = new Set(required.map(({ name }) => name.replace(/^@tree-sitter-grammars\//, '')));
  const all = [
    ...inScripts,
    ...ofGrammars,
    // Of koffi only the native part is used.
    ...Object.keys(own.dependencies ?? {}).filter((name) => name !== 'koffi'),
    '@fontsource-variable/inter',
    'assemblyscript',
    'linguist-languages',
    'react',
    'swagger-ui-dist',
  ];
  assert.deepEqual(
    all.filter((name) => !names.has(name)),
    [],
  );
});

test('a package without a licence text cannot be shipped', async () => {
  const { licenceOf } = (await import(path.resolve('scripts/contents.mjs'))) as {
    readonly licenceOf: (place: string) => string;
  };
  writeFiles(folder, { 'bare/package.json': '{"name":"bare","license":"MIT"}' });
  assert.throws(() => licenceOf(path.join(folder, 'bare')), /bare is shipped and has no licence/);
});
