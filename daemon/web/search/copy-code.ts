// Copies from results: only the code, as it is in the file, without line numbers and labels. Hidden characters are
// copied as themselves. A line with dots separates parts of a file that are not adjacent.

import type { ClipboardEvent } from 'react';

const APART = '⋯';

function textOf(part: DocumentFragment | Element): string {
  for (const chip of part.querySelectorAll('.line-number, .line-cut, .line-kind')) chip.remove();
  for (const hidden of part.querySelectorAll<HTMLElement>('.hidden-character'))
    hidden.textContent = hidden.dataset['text'] ?? '';
  return part.textContent;
}

/** A selection within one line is copied as selected, a longer one by lines. */
function codeOf(range: Range): string {
  const part = range.cloneContents();
  const rows = part.querySelectorAll('.result-line, .result-gap, .file-head');
  if (rows.length === 0) return textOf(part);
  const texts: string[] = [];
  let isApart = false;
  for (const row of rows) {
    if (!row.classList.contains('result-line')) isApart = texts.length > 0;
    else {
      if (isApart) texts.push(APART);
      isApart = false;
      texts.push(textOf(row));
    }
  }
  return texts.join('\n');
}

export function copyCode(event: ClipboardEvent): void {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const { commonAncestorContainer: whole } = range;
  const element = whole instanceof Element ? whole : whole.parentElement;
  // A selection in the head of a file is copied as plain text.
  if (element?.closest('.file-head') !== null) return;
  event.clipboardData.setData('text/plain', codeOf(range));
  event.preventDefault();
}
