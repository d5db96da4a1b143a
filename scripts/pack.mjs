// `npm run pack [FOLDER]`: writes what a release contains to build/package/, and packs it as build/trawl-VERSION.tgz, or into
// FOLDER. Its package.json is not that of the checkout: the bundle has all dependencies but the native ones, which are
// optional, one for each kind of machine, so that npm installs those of the machine at hand. It has no scripts.
// LICENSES.txt and bom.cdx.json say what is in it (contents.mjs).

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeNotices } from './contents.mjs';
import { ensureInstalled } from './install.mjs';
import { writeVersions } from './versions.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'build', 'package');

/** Below build/: all that the program reads. */
const PRODUCTS = [
  'bundle/cli/main.js',
  'bundle/cli/package.json',
  'bundle/cli/search.cjs',
  'bundle/cli/trawl.cjs',
  'bundle/cli/versions.txt',
  'bundle/threads',
  'commit.txt',
  'core.release.wasm',
  'daemon/api/instance/openapi.json',
  'grammars',
  'languages.json',
  'reference',
  'web',
];

/** Left out: Alpine Linux for libsql, 9 MB that npm would install on every Linux (README.md says how to add it). */
const NATIVE = [
  /^@koromix\/koffi-(linux|darwin)-(x64|arm64)$/,
  /^@libsql\/(linux-(x64|arm64)-gnu|darwin-(x64|arm64))$/,
  /^@node-rs\/argon2-(linux-(x64|arm64)-(gnu|musl)|darwin-(x64|arm64))$/,
];

ensureInstalled(root);
run(process.execPath, ['scripts/build.mjs'], root);
// Why again: a commit of documents builds nothing.
writeVersions(root);
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
rmSync(folder, { recursive: true, force: true });
for (const name of PRODUCTS) copy(path.join('build', name));
for (const name of ['CHANGELOG.md', 'LICENSE', 'README.md', 'daemon/deploy', ...documents()])
  copy(name);
// The date of what is packed, so that the same commit gives the same pages.
const dated = spawnSync('git', ['log', '-1', '--format=%cs'], { cwd: root });
const date =
  dated.status === 0 ? String(dated.stdout).trim() : new Date().toISOString().slice(0, 10);
const pages = path.join(folder, 'man');
run(process.execPath, ['build/daemon/cli/write-man-pages.js', pages, date], root);
const written = {
  ...chosen(['name', 'version', 'description', 'license', 'type', 'engines']),
  bin: { trawl: 'build/bundle/cli/main.js' },
  man: readdirSync(pages).map((name) => `man/${name}`),
  optionalDependencies: Object.fromEntries(natives()),
  ...chosen(['peerDependencies', 'peerDependenciesMeta']),
};
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(written, undefined, 2)}\n`);
writeNotices(folder, Object.keys(written.optionalDependencies));
const target = path.resolve(process.argv[2] ?? path.join(root, 'build'));
mkdirSync(target, { recursive: true });
run('npm', ['pack', '--loglevel=error', '--pack-destination', target], folder);
console.log(path.join(target, `${written.name}-${written.version}.tgz`));

function chosen(names) {
  return Object.fromEntries(names.map((name) => [name, manifest[name]]));
}

function copy(name) {
  const to = path.join(folder, name);
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(path.join(root, name), to, { recursive: true });
}

/** What README.md links to or shows, so that its links lead somewhere in the package, too. */
function documents() {
  const text = readFileSync(path.join(root, 'README.md'), 'utf8');
  return [...text.matchAll(/\]\(([\w./-]+\.(?:md|webp))(?:#[\w-]+)?\)/g)].map(([, name]) => name);
}

/** The packages with native parts, with the versions that the packages around them ask for. */
function natives() {
  const found = Object.keys(manifest.dependencies).flatMap((name) => {
    const file = path.join(root, 'node_modules', name, 'package.json');
    const { optionalDependencies } = JSON.parse(readFileSync(file, 'utf8'));
    return Object.entries(optionalDependencies ?? {});
  });
  return NATIVE.flatMap((pattern) => {
    const fitting = found.filter(([name]) => pattern.test(name));
    if (fitting.length === 0) throw new Error(`no dependency has a native package ${pattern}`);
    return fitting;
  });
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
