// The tables of daemon/README.md and those in the code hold the same rows: error codes, environment
// variables, settings. So does the table of endpoints in daemon/api/README.md.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { ERROR_MEANINGS, ERROR_STATUS } from '../../daemon/api/shapes/api-error.ts';
import { INTEGER_SETTINGS, OTHER_SETTINGS } from '../../daemon/base/config/settings.ts';
import { VARIABLES } from '../../daemon/base/config/variables.ts';
import { filesBelow } from './imports.ts';
import type { Variable } from '../../daemon/base/config/variables.ts';

const readme = readFileSync('daemon/README.md', 'utf8');

/** Text between a heading and the next heading of any level. */
function section(heading: string): string {
  const start = readme.indexOf(`\n${heading}\n`);
  assert.ok(start >= 0, `no heading "${heading}"`);
  const rest = readme.slice(start + heading.length + 2);
  const end = rest.search(/^#/m);
  return end < 0 ? rest : rest.slice(0, end);
}

/** Cells of the rows of the first table in a section, without its head. */
function rows(heading: string): string[][] {
  return section(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('error codes: same codes, statuses and meanings', () => {
  const expected = Object.entries(ERROR_STATUS).map(([code, status]) => [
    code,
    String(status),
    ERROR_MEANINGS[code as keyof typeof ERROR_STATUS],
  ]);
  assert.deepEqual(rows('### Errors'), expected);
});

test('reserved error codes: none in use', () => {
  const listed = [...section('### Reserved error codes').matchAll(/`([A-Z_]+)`/g)];
  assert.equal(listed.length, 29);
  for (const [, code = ''] of listed) assert.ok(!Object.hasOwn(ERROR_STATUS, code), code);
});

test('variables: same names, flags, defaults, allowed values and help', () => {
  const expected = Object.values<Variable<unknown>>(VARIABLES).map((row) => [
    row.isSecret === true ? `${row.name}, ${row.name}_FILE` : row.name,
    row.flag === undefined ? '' : `\`--${row.flag}\``,
    row.defaultNote ?? row.defaultText ?? 'none',
    row.allowed,
    row.help,
  ]);
  assert.deepEqual(rows('### Environment variables'), expected);
});

test('settings: same keys, defaults, bounds and help', () => {
  const expected = Object.entries(INTEGER_SETTINGS).map(([key, row]) => [
    key,
    String(row.defaultValue),
    String(row.min),
    row.help,
  ]);
  for (const [key, { defaultNote, help }] of Object.entries(OTHER_SETTINGS))
    expected.push([key, defaultNote, '', help]);
  assert.deepEqual(rows('### Settings'), expected);
});

test('limits of this version: no endpoint that is said to be missing is served', () => {
  const [, limits = ''] = readFileSync('daemon/OPERATIONS.md', 'utf8').split(
    '\n## Limits of this version\n',
  );
  assert.ok(limits.length > 0);
  const named = [...limits.matchAll(/`(\/api\/[^`]+)`/g)].map((match) => match[1]);
  const served = new Set(ENDPOINTS.map(({ path }) => path));
  for (const path of named) assert.ok(!served.has(path ?? ''), path);
});

test('endpoints: every path beside the file that has it', async () => {
  const table = readFileSync('daemon/api/README.md', 'utf8').matchAll(/^\| `(\S+)` +\| (.*) \|$/gm);
  const said = [...table].map(([, file = '', paths = '']) => [
    file,
    [...paths.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one).sort(),
  ]);
  const written: [file: string, paths: string[]][] = [];
  for (const file of filesBelow('daemon/api', '-endpoints.ts', '-endpoint.ts')) {
    const module: unknown = await import(
      new URL(`../../${file.replace(/\.ts$/, '.js')}`, import.meta.url).href
    );
    const made = new Set(Object.values(module as object).flat());
    const paths = ENDPOINTS.filter((one) => made.has(one)).map((one) => one.path);
    if (paths.length > 0)
      written.push([file.slice('daemon/api/'.length), [...new Set(paths)].sort()]);
  }
  assert.deepEqual(said, written);
});
