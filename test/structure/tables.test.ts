// Tables of documents match the code: endpoints by file in daemon/api/README.md. The contract has a separate test
// (api/contract-document.test.ts).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { filesBelow } from './imports.ts';

test('limits of this version: no endpoint listed as missing is served', () => {
  const [, limits = ''] = readFileSync('daemon/OPERATIONS.md', 'utf8').split(
    '\n## Limits of this version\n',
  );
  assert.ok(limits.length > 0);
  const paths = [...limits.matchAll(/`(\/api\/[^`]+)`/g)].map((match) => match[1]);
  const served = new Set(ENDPOINTS.map(({ path }) => path));
  for (const path of paths) assert.ok(!served.has(path ?? ''), path);
});

test('endpoints: every path with its file', async () => {
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
