// Keys of the pages of a repository. Single ones count outside of fields only.

import { useEffect, useRef } from 'react';

/**
 * What keys do, by their names: `y`, `shift+c`, `mod+p`, `alt+shift+F12`; mod is Ctrl, or Cmd on macOS. False: nothing, and
 * the key is the browser's.
 */
export type KeyActions = Readonly<Record<string, (() => unknown) | undefined>>;

const IS_MAC = /mac/i.test(navigator.platform);

/** The name of what is pressed, as in `KeyActions`. */
function nameOf(event: KeyboardEvent): string {
  const { altKey, shiftKey, ctrlKey, metaKey, key } = event;
  const isMod = IS_MAC ? metaKey : ctrlKey;
  const parts = [
    isMod ? 'mod' : undefined,
    altKey ? 'alt' : undefined,
    shiftKey ? 'shift' : undefined,
    key.length === 1 ? key.toLowerCase() : key,
  ];
  return parts.filter((part) => part !== undefined).join('+');
}

/** Is what is typed there text, or for a layer above the page? */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input, textarea, select') || target.closest('[role="dialog"]') !== null;
}

export function useKeys(actions: KeyActions): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const name = nameOf(event);
      const isSingle = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.defaultPrevented || (isSingle && isTaken(event.target))) return;
      const action = current.current[name];
      if (action !== undefined && action() !== false) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
