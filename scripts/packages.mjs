// Joins packages of many files into one file each, below build/node_modules, where all that the build makes finds them
// first. Why: each module costs half a millisecond at the start of a process or thread, and these are most of what a test
// file loads. A package that imports another one of the list has to be in the list, too: there would be two of that.

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inputsOf, keepContents } from './contents.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'build', 'node_modules');

/** By the name of the package: what its one file exports, and under which names it is imported. */
const PACKAGES = {
  ajv: {
    text: "export { Ajv } from 'ajv'; export { Ajv2020 } from 'ajv/dist/2020.js';",
    entries: ['.', './dist/2020.js'],
  },
  kysely: { text: "export * from 'kysely';", entries: ['.'] },
  zod: { text: "export * from 'zod';", entries: ['.', './v4', './v4/core'] },
  'zod-openapi': { text: "export * from 'zod-openapi';", entries: ['.'] },
};

const inputs = [];
rmSync(folder, { recursive: true, force: true });
for (const [name, { text, entries }] of Object.entries(PACKAGES)) {
  const external = Object.keys(PACKAGES).filter((other) => other !== name);
  const built = await build({
    absWorkingDir: root,
    stdin: { contents: text, resolveDir: root },
    outfile: path.join(folder, name, 'index.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external,
    logLevel: 'warning',
    metafile: true,
  });
  inputs.push(...inputsOf(built));
  const exports = Object.fromEntries(entries.map((entry) => [entry, './index.js']));
  const manifest = { name, type: 'module', sideEffects: false, exports };
  writeFileSync(path.join(folder, name, 'package.json'), JSON.stringify(manifest));
}
keepContents('packages', inputs);
