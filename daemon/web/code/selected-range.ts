// The text that is selected, as lines and columns of an address.

import type { EditorState, Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { pointCount } from './columns.ts';
import type { LineRange } from './line-range.ts';

/** Undefined: nothing is selected. */
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

/** @param onSelect  told whenever another text is selected, or none any more */
export function selectedRange(onSelect: (range: LineRange | undefined) => void): Extension {
  return EditorView.updateListener.of(({ selectionSet, startState, state }) => {
    if (!selectionSet) return;
    if (state.selection.main.empty && startState.selection.main.empty) return;
    onSelect(rangeOf(state));
  });
}
