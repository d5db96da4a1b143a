// The selected text as lines and columns for an address.

import type { EditorState, Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { pointCount } from './columns.ts';
import type { LineRange } from './line-range.ts';

/** Undefined: the selection is empty. */
function rangeOf({ selection: { main }, doc }: EditorState): LineRange | undefined {
  if (main.empty) return undefined;
  const [first, last] = [doc.lineAt(main.from), doc.lineAt(main.to)];
  const columnIn = (lineStart: number, at: number): number =>
    pointCount(doc.sliceString(lineStart, at)) + 1;
  return {
    from: first.number,
    to: last.number,
    fromColumn: columnIn(first.from, main.from),
    toColumn: columnIn(last.from, main.to),
  };
}

/** @param onSelect  called when the selection changes */
export function selectedRange(onSelect: (range: LineRange | undefined) => void): Extension {
  return EditorView.updateListener.of(({ selectionSet, startState, state }) => {
    if (!selectionSet) return;
    if (state.selection.main.empty && startState.selection.main.empty) return;
    onSelect(rangeOf(state));
  });
}
