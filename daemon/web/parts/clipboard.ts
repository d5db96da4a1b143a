// Copies text; where the browser allows it only by older ways, or not at all, too.

import { toast } from './toasts.ts';

/** Without a secure context there is no clipboard to write to. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isDone;
}

/** @param what  what was copied, for the word that confirms it: `Link` */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyBySelection(text)) {
      prompt('Copy this:', text);
      return;
    }
  }
  toast(`${what} copied`);
}
