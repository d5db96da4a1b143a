// The design tokens: every text can be read on every ground that it stands on, in both themes, by the rule of WCAG 2 AA; and no
// style or page names a colour or a size in pixels of its own.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { filesBelow } from '../structure/imports.ts';

const TOKENS = readFileSync('daemon/web/styles/tokens.css', 'utf8');

type Theme = 0 | 1;

/** A colour of web/styles/tokens.css, as three numbers from 0 to 1. */
function colour(name: string, theme: Theme): number[] {
  const pair = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(
    TOKENS,
  );
  const hex = pair?.[theme + 1];
  assert.ok(hex, `no token ${name}`);
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
}

/** Relative luminance of sRGB. */
function luminance(rgb: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) =>
    part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(above: string, below: string, theme: Theme): number {
  const [a, b] = [above, below].map((name) => luminance(colour(name, theme)));
  return (Math.max(a!, b!) + 0.05) / (Math.min(a!, b!) + 0.05);
}

const GROUNDS = ['bg', 'surface', 'sunken', 'hover', 'selected', 'sel', 'line'];
const CODE = [...TOKENS.matchAll(/--(code-\w+): light-dark/g)].map(([, name = '']) => name);

/** Text, and what it stands on. */
const PAIRS: readonly (readonly [string, readonly string[]])[] = [
  ...['text', 'text-2', 'text-3', 'accent', ...CODE].map((name) => [name, GROUNDS] as const),
  ['on-accent', ['accent']],
  ['match-text', ['match']],
  ['match-current-text', ['match-current']],
  ['ok', ['ok-bg']],
  ['warn', ['warn-bg']],
  ['danger', ['danger-bg', 'bg']],
  ['info', ['info-bg']],
  ['add-marker', ['add']],
  ['del-marker', ['del']],
  ...['text', 'text-3', ...CODE].map((name) => [name, ['add', 'del']] as const),
  ['text', ['add-word', 'del-word']],
];

test('texts have enough contrast on every background, in both themes', () => {
  assert.equal(CODE.length, 12);
  for (const theme of [0, 1] as const)
    for (const [above, grounds] of PAIRS)
      for (const below of grounds) {
        const found = contrast(above, below, theme);
        assert.ok(found >= 4.5, `${above} on ${below}, theme ${theme}: ${found.toFixed(2)}`);
      }
});

test('edges of controls and marks have enough contrast', () => {
  for (const theme of [0, 1] as const)
    for (const [above, below] of [
      ['border-strong', 'bg'],
      ['focus', 'bg'],
      ['match-line', 'bg'],
    ] as const)
      assert.ok(contrast(above, below, theme) >= 3, `${above} on ${below}, theme ${theme}`);
});

test('only tokens.css defines colours and pixels', () => {
  const files = filesBelow('daemon/web', '.css', '.tsx').filter(
    (file) => !file.endsWith('tokens.css'),
  );
  assert.ok(files.length > 20);
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(/@media [^{]*\{/g, '');
    assert.doesNotMatch(text, /#[0-9a-f]{6}\b|#[0-9a-f]{3}\b|\brgb\(|\bhsl\(/i, file);
    if (file.endsWith('.css')) assert.doesNotMatch(text, /\d+px/, file);
    assert.doesNotMatch(text, /dangerouslySetInnerHTML|innerHTML|\beval\(|new Function/, file);
  }
});
