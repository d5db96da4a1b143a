// Links that open a file in the editor of its reader.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editorLink } from '../../daemon/web/data/editors.ts';

const PLACE = { repo: 'github.com/acme/web', path: 'src/[id] #1.ts', line: 12, column: 3 };
const CHOICE = { editor: 'vscode', cloneFolder: '/home/me/{name}/', editorTemplate: '' } as const;

test('each editor has its link', () => {
  const path = 'src/%5Bid%5D%20%231.ts';
  assert.equal(editorLink(CHOICE, PLACE), `vscode://file/home/me/web/${path}:12:3`);
  const windows = { ...CHOICE, cloneFolder: 'C:\\src\\{repo}' };
  assert.equal(editorLink(windows, PLACE), `vscode://file/C:/src/github.com/acme/web/${path}:12:3`);
  assert.equal(
    editorLink({ ...CHOICE, editor: 'zed' }, PLACE),
    `zed://file/home/me/web/${path}:12:3`,
  );
  assert.equal(
    editorLink({ ...CHOICE, editor: 'jetbrains', cloneFolder: '' }, PLACE),
    `jetbrains://idea/navigate/reference?project=web&path=${path}:12`,
  );
  const editorTemplate = 'mine://open?f={file}&l={line}&x={other}';
  assert.equal(
    editorLink({ ...CHOICE, editor: 'custom', editorTemplate }, PLACE),
    `mine://open?f=/home/me/web/${path}&l=12&x={other}`,
  );
});

test('what makes no link of an editor makes none', () => {
  assert.equal(editorLink({ ...CHOICE, editor: 'none' }, PLACE), undefined);
  assert.equal(editorLink({ ...CHOICE, cloneFolder: ' ' }, PLACE), undefined);
  for (const editorTemplate of [
    '',
    'no scheme',
    'javascript:alert(1)//{path}',
    ' JavaScript:alert(1)',
    'data:text/html,{path}',
    'file://{path}',
  ])
    assert.equal(
      editorLink({ ...CHOICE, editor: 'custom', editorTemplate }, PLACE),
      undefined,
      editorTemplate,
    );
});
