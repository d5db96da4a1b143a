// How code looks and is moved in as its reader has chosen it: how wide tabs are, whether long lines wrap, the keys of vim.

import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { Settings } from '../data/remembered.ts';

export function lookOf({
  tabWidth,
  isWrapped,
}: Pick<Settings, 'tabWidth' | 'isWrapped'>): Extension {
  return [EditorState.tabSize.of(tabWidth), isWrapped ? EditorView.lineWrapping : []];
}

/** Has to stand before other keys. Errors: the module cannot be loaded. */
export async function vimKeys(): Promise<Extension> {
  const { vim } = await import('@replit/codemirror-vim');
  return vim({ status: true });
}
