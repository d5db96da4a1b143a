// Builds what browsers load into build/web/: scripts and styles of daemon/web/ with hashes in their names, the two faces cut
// to the characters of Latin text; .vite/manifest.json names the entries for the daemon. build/reference/ gets the page of the
// API description. What gets smaller so is kept as brotli alone, a third of the size: the daemon makes the rest of it.

import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import subsetFont from 'subset-font';
import { build } from 'vite';
import { keepContents } from './contents.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const OUTPUT = path.join(root, 'build/web');
const REFERENCE = path.join(root, 'build/reference');
const FACES = path.join(root, 'build/faces');

/** ASCII, Latin-1 and general punctuation: what the two faces keep. Must fit `unicode-range` in styles/faces.css. */
const KEPT_RANGES = [
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
];

function keptText() {
  return KEPT_RANGES.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)),
  ).join('');
}

/** Distances, figures of one width, accents; no ligatures: `!==` is three characters wherever it stands. */
const KEPT_FEATURES = ['kern', 'tnum', 'ccmp', 'mark'];

/** Writes the Latin part of a face with fewer characters and weights from 400 to 600. */
async function cutFace(name, file) {
  const source = createRequire(import.meta.url).resolve(`${name}/files/${file}`);
  inputs.push(source);
  const cut = await subsetFont(readFileSync(source), keptText(), {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 400, max: 600 } },
    keepFeatures: KEPT_FEATURES,
  });
  writeFileSync(path.join(FACES, file), cut);
}

/** Faces are compressed as they are. */
const COMPRESSED = /\.(js|css|svg)$/;

/** Puts `NAME.br` in place of each file NAME that gets smaller so. */
function compressFiles(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSED.test(entry.name)) continue;
    const place = path.join(entry.parentPath, entry.name);
    const bytes = readFileSync(place);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${place}.br`, brotliCompressSync(bytes, { params }));
    rmSync(place);
  }
}

/** The icon, which no script names, with a hash in its name like all the others: browsers ask for it with every page. */
function keepIcon() {
  const icon = readFileSync(path.join(root, 'daemon/web/icon.svg'));
  const hash = createHash('sha256').update(icon).digest('base64url').slice(0, 8);
  const file = `assets/icon-${hash}.svg`;
  writeFileSync(path.join(OUTPUT, file), icon);
  const manifest = path.join(OUTPUT, '.vite/manifest.json');
  const entries = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify({ ...entries, 'icon.svg': { file } }, undefined, 2));
}

const inputs = ['node_modules/swagger-ui-dist'];

/** Notes what is in the page and in its workers. */
const noteInputs = {
  name: 'note-inputs',
  generateBundle(_, chunks) {
    for (const { moduleIds = [] } of Object.values(chunks)) inputs.push(...moduleIds);
  },
};

/** What swagger-ui-dist has for browsers, without its maps and examples. */
function copyReference() {
  const source = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist'));
  rmSync(REFERENCE, { recursive: true, force: true });
  mkdirSync(REFERENCE, { recursive: true });
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    copyFileSync(path.join(source, name), path.join(REFERENCE, name));
}

mkdirSync(FACES, { recursive: true });
await cutFace('@fontsource-variable/inter', 'inter-latin-wght-normal.woff2');
await cutFace('@fontsource-variable/jetbrains-mono', 'jetbrains-mono-latin-wght-normal.woff2');
await build({
  configFile: false,
  root: path.join(root, 'daemon/web'),
  // Addresses of files are relative to the file that names them, so that the base URL may have a path.
  base: './',
  logLevel: 'error',
  publicDir: false,
  resolve: { alias: { '@faces': FACES } },
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: 'es2022',
    manifest: true,
    modulePreload: { polyfill: false },
    // No data: addresses: the policy of the pages allows none.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: {
        main: path.join(root, 'daemon/web/main.tsx'),
        theme: path.join(root, 'daemon/web/theme.ts'),
      },
    },
  },
  plugins: [noteInputs],
  worker: { format: 'es', plugins: () => [noteInputs] },
});
keepContents('web', inputs);
keepIcon();
copyReference();
compressFiles(OUTPUT);
compressFiles(REFERENCE);
