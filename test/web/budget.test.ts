// What a browser loads before the search page can be used, and the size of each lazy part: compressed bytes, each
// with a limit. A part above its limit is loaded later, or the limit is raised with a reason.
// tier: ci (long)

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

const OUTPUT = 'build/web';
const chunks = JSON.parse(readFileSync(`${OUTPUT}/.vite/manifest.json`, 'utf8')) as Readonly<
  Record<string, Chunk>
>;

function sizeOf(file: string): number {
  const compressed = `${OUTPUT}/${file}.br`;
  return statSync(existsSync(compressed) ? compressed : `${OUTPUT}/${file}`).size;
}

function sum(files: readonly string[]): number {
  return files.reduce((total, file) => total + sizeOf(file), 0);
}

/** KB of brotli. */
const BOUNDS = { firstScripts: 115, styles: 7, faces: 36, worker: 20 };
const LATER: Readonly<Record<string, number>> = {
  'shell/palette.tsx': 18,
  'shell/keys-dialog.tsx': 2,
  'shell/syntax-dialog.tsx': 2,
  'shell/session-dialog.tsx': 2,
  'search/preview-panel.tsx': 2,
};

function checkBound(what: string, bytes: number, bound: number): void {
  assert.ok(bytes <= bound * 1000, `${what}: ${bytes} bytes, at most ${bound} KB`);
}

test('the search page loads no more than its budget', () => {
  const main = chunks['main.tsx']!;
  const scripts = [main.file, ...(main.imports ?? []).map((name) => chunks[name]!.file)];
  checkBound('scripts', sum(scripts), BOUNDS.firstScripts);
  checkBound('styles', sum(main.css ?? []), BOUNDS.styles);
  const faces = (main.assets ?? []).filter((name) => name.includes('-latin-wght-'));
  assert.equal(faces.length, 2);
  checkBound('faces', sum(faces), BOUNDS.faces);
  const worker = readdirSync(`${OUTPUT}/assets`).find((name) => name.startsWith('search-worker-'));
  checkBound('worker', sizeOf(`assets/${worker}`), BOUNDS.worker);
});

test('lazy parts stay small, and none is in the first load', () => {
  for (const [name, bound] of Object.entries(LATER)) {
    const chunk = chunks[name];
    assert.ok(chunk, `${name} is in another file`);
    checkBound(name, sizeOf(chunk.file), bound);
  }
});
