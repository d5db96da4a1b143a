// The field of the query box. It works at once; completion is loaded when the page has nothing else to do, and takes over the
// text, the caret and the focus.

import { useEffect, useRef, useState } from 'react';
import type { ComponentType, RefObject } from 'react';
import { flushSync } from 'react-dom';
import type { BoxInputProps } from './box-props.ts';

/** What completes, once it is there: for every box that comes later too. */
let loaded: ComponentType<BoxInputProps> | undefined;

async function load(): Promise<void> {
  loaded = (await import('./completing-input.tsx')).default;
}

/** Calls back when the browser is idle, a second later at most. */
function whenIdle(run: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(run, 200);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(run, { timeout: 1000 });
  return () => cancelIdleCallback(handle);
}

/** Loads what completes; never while a character is being composed. */
function useCompletion(input: RefObject<HTMLInputElement | null>) {
  const [Completing, setCompleting] = useState(() => loaded);
  const isComposing = useRef(false);
  useEffect(() => {
    if (Completing !== undefined) return undefined;
    let isGone = false;
    const swap = (): void => {
      const field = input.current;
      if (isGone || loaded === undefined || field === null) return;
      if (isComposing.current) {
        field.addEventListener('compositionend', () => setTimeout(swap), { once: true });
        return;
      }
      const isFocused = document.activeElement === field;
      const { selectionStart, selectionEnd } = field;
      const found = loaded;
      // Why at once: a key that comes in between would be lost.
      flushSync(() => setCompleting(() => found));
      if (!isFocused) return;
      input.current?.focus();
      input.current?.setSelectionRange(selectionStart, selectionEnd);
    };
    // What cannot be had now comes with the next box.
    const cancel = whenIdle(() => void load().then(swap, () => {}));
    return () => {
      isGone = true;
      cancel();
    };
  }, [Completing, input]);
  return { Completing, isComposing };
}

export function BoxInput(props: BoxInputProps) {
  const { input, text, setText, isRegexEnabled: _, ...rest } = props;
  const { Completing, isComposing } = useCompletion(input);
  // One that takes over has the focus that the plain field had.
  const [hasFirstFocus] = useState(() => loaded !== undefined);
  if (Completing !== undefined)
    return <Completing {...props} autoFocus={hasFirstFocus && props.autoFocus === true} />;
  return (
    <input
      {...rest}
      ref={input}
      type="text"
      role="combobox"
      aria-expanded={false}
      aria-autocomplete="list"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onCompositionStart={() => (isComposing.current = true)}
      onCompositionEnd={() => (isComposing.current = false)}
    />
  );
}
