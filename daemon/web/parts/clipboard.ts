// Copies text, with fallbacks for browsers without clipboard access.

import { toast } from './toasts.ts';

/** Why: browsers offer the clipboard API only in a secure context. */
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

/** @param what  what was copied, for the confirmation, such as `Link` */
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
