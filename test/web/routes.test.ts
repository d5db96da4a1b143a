// The addresses of pages: the daemon and the client's router have the same.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PAGES } from '../../daemon/http/web/page-endpoints.ts';

test('the pages that the daemon serves are those that the client knows', () => {
  const routes = readFileSync('daemon/web/shell/routes.tsx', 'utf8');
  // What holds newlines too is written as an expression.
  const written = routes.replace(String.raw`/^\/browse\/[^]*$/`, `'/browse/*'`);
  const known = [...written.matchAll(/\{ path: '([^']+)', page:/g)].flatMap(([, path = '']) =>
    path.endsWith('/:section?')
      ? [path.replace('/:section?', ''), path.replace(':section?', '{section}')]
      : [path.replace('*', '*rest')],
  );
  assert.deepEqual(known.toSorted(), PAGES.toSorted());
});
