// What is copied from results: code alone, as it stands in the file. Numbers and what is said of lines are left out, characters
// that are drawn as a code come as they are, pieces of a file that do not touch are joined by a line with dots.

import type { ClipboardEvent } from 'react';

const APART = '⋯';

function textOf(part: DocumentFragment | Element): string {
  for (const chip of part.querySelectorAll('.line-number, .line-cut, .line-kind')) chip.remove();
  for (const hidden of part.querySelectorAll<HTMLElement>('.hidden-character'))
    hidden.textContent = hidden.dataset['text'] ?? '';
  return part.textContent;
}

/** Selected text within one line is copied as it is selected, more by lines. */
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
  // Names of files are copied as any other text.
  if (element?.closest('.file-head') !== null) return;
  event.clipboardData.setData('text/plain', codeOf(range));
  event.preventDefault();
}
