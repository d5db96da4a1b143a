// Bundles the program with esbuild. Why: to find and load the modules takes half of a start, and to compile them most of the rest
// (figures: daemon/DECISIONS.md). Outputs, below build/bundle/:
//   cli/trawl.cjs    the main thread of `trawl`: our modules, and the dependencies that are plain JavaScript
//   cli/search.cjs   what `trawl search` needs, a third of that
//   cli/*.code       V8's code cache of both, for a daemon, a search and a help text (keep-code.mjs)
//   cli/main.js      loads a bundle and its code cache (main.cjs)
//   threads/*.cjs    a bundle for the script of each thread
// daemon/base/program-files.ts expects outputs two folders below build/. The option `keepNames` of esbuild stays off: its call
// for each closure took 18 us of the 350 us of a search.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inputsOf, keepContents } from './contents.mjs';
import { writeVersions } from './versions.mjs';

/**
 * What stays in node_modules: it has native parts, data files or threads of its own, or is loaded by `import()` alone, when a
 * connection needs it. What is imported otherwise has to be joined: the bundle would import it at its start.
 */
const APART = ['@node-rs/argon2-*', '@koromix/*', '@libsql/*', 'pg-native', 'uWebSockets.js'];

/** Scripts of threads and processes, below build/daemon. */
const THREADS = [
  'engine/build/build-worker',
  'engine/build/merge-worker',
  'engine/search/search-worker',
  'engine/symbols/pass-worker',
  'engine/symbols/tree-program',
  'http/pack-worker',
  'sources/docs/scan-worker',
  'sources/git/ref-poll-worker',
];

/**
 * Modules that few searches need, and load by `import()` before they print anything. search.cjs leaves them out: such a search
 * starts trawl.cjs instead.
 */
const WHOLE = ['main', 'configuration', 'catalog-schemas'];

const WORD = 'needle';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'build', 'bundle', 'cli');
const threadFolder = path.join(root, 'build', 'bundle', 'threads');

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // Why: V8 takes code that it kept for scripts alone.
  format: 'cjs',
  target: 'node20',
  mainFields: ['module', 'main'],
  define: { 'import.meta.url': 'bundleUrl' },
  external: APART,
  alias: {
    '@neon-rs/load': './scripts/libsql-target.cjs',
    // Not the one joined file of packages.mjs beside this one, which others load: 0.1 MB less.
    zod: './node_modules/zod',
  },
  logLevel: 'warning',
  metafile: true,
  // Why: reading the text takes 2 ms a megabyte of each start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  lineLimit: 120,
};
const programs = {
  ...common,
  write: false,
  // Why: a script of kept code has no loader for `import()`; it becomes `require()`, as late.
  supported: { 'dynamic-import': false },
};
const program = await build({ ...programs, entryPoints: ['build/daemon/cli/main.js'] });
const search = await build({
  ...programs,
  entryPoints: ['build/daemon/cli/search-main.js'],
  plugins: [{ name: 'whole program', setup: leaveOut }],
});
const threads = await build({
  ...common,
  entryPoints: THREADS.map((name) => `build/daemon/${name}.js`),
  outdir: threadFolder,
  entryNames: '[name]',
  outExtension: { '.js': '.cjs' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
});
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeText('trawl.cjs', program);
writeText('search.cjs', search);
// Why not as modules: loading one takes 8 ms more.
writeFileSync(path.join(folder, 'package.json'), '{ "type": "commonjs" }\n');
copyFileSync(path.join(root, 'scripts', 'main.cjs'), path.join(folder, 'main.js'));
keepCodes();
writeVersions(root);
keepContents('bundle', [...inputsOf(program), ...inputsOf(search), ...inputsOf(threads)]);

function leaveOut({ onResolve, onLoad }) {
  const filter = new RegExp(`/(?:${WHOLE.join('|')})\\.js$`);
  onResolve({ filter }, ({ kind }) =>
    kind === 'dynamic-import' ? { path: './trawl.cjs', external: true } : undefined,
  );
  // For commands that are files of their own, and where files do not say which C library there is.
  onResolve({ filter: /^(?:node:)?child_process$/ }, ({ importer, path: name }) =>
    /\b(?:commander|detect-libc)\b/.test(importer) ? { path: name, namespace: 'none' } : undefined,
  );
  onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }));
}

function writeText(file, { outputFiles }) {
  // Why: one character beyond Latin-1 doubles the memory of the text. Outside of comments esbuild leaves none.
  const text = outputFiles[0].text.replaceAll(/[^\0-\x7f]/g, '?');
  const name = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const script = `/*${name}*/ (function (require, bundleUrl) {${text}\n})`;
  writeFileSync(path.join(folder, file), script);
}

/** Of a daemon over a folder with one file, then of a search of its index, then of a help text. */
function keepCodes() {
  const work = mkdtempSync(path.join(tmpdir(), 'trawl-code-'));
  const source = path.join(work, 'source');
  const dataDir = ['--data-dir', path.join(work, 'data')];
  mkdirSync(source);
  writeFileSync(path.join(source, 'file.txt'), `${WORD}\n`);
  try {
    keepCode('trawl', 'serve', '--anonymous', '--port', '0', ...dataDir, source);
    keepCode('search', 'search', ...dataDir, WORD);
    keepCode('trawl', '--help', source);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function keepCode(bundle, ...command) {
  const script = path.join(root, 'scripts', 'keep-code.mjs');
  const text = path.join(folder, `${bundle}.cjs`);
  const kept = spawnSync(process.execPath, [script, text, WORD, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A daemon notes its sources there.
    env: { ...process.env, XDG_STATE_HOME: path.dirname(command.at(-1)) },
    timeout: 60_000,
  });
  if (kept.status !== 0)
    process.stderr.write(
      `trawl will start slower, its code was not kept: ${String(kept.stderr)}\n`,
    );
}
