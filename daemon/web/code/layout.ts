// How code looks and is moved in as its reader has chosen it: how wide tabs are, whether long lines wrap, the keys of vim.

import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { Settings } from '../data/remembered.ts';

/** Measured: 2026-11-25: to wrap a line of 5 MB takes browsers 1.5 s, in which nothing moves. In UTF-16 units. */
const WRAPPED_LINE_MAX = 100_000;

/** Is no line of the text too long to be wrapped? */
export function canWrap(text: string): boolean {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    if (to - from > WRAPPED_LINE_MAX) return false;
    from = to + 1;
  }
  return true;
}

export function layoutOf(
  { tabWidth, isWrapped }: Pick<Settings, 'tabWidth' | 'isWrapped'>,
  text: string,
): Extension {
  const wraps = isWrapped && canWrap(text);
  return [EditorState.tabSize.of(tabWidth), wraps ? EditorView.lineWrapping : []];
}

/** Has to stand before other keys. Errors: the module cannot be loaded. */
export async function vimKeys(): Promise<Extension> {
  const { vim } = await import('@replit/codemirror-vim');
  return vim({ status: true });
}
