// The reader's settings for code: tab width, line wrapping, vim keys.

import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { Settings } from '../data/remembered.ts';

/** In UTF-16 units. Measured: 2026-11-25: wrapping a line of 5 MB blocks a browser for 1.5 s. */
const WRAPPED_LINE_MAX = 100_000;

/** Are all lines short enough to wrap? */
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

/** Must come before other keymaps. Errors: rejects if the module cannot be loaded. */
export async function vimKeys(): Promise<Extension> {
  const { vim } = await import('@replit/codemirror-vim');
  return vim({ status: true });
}
