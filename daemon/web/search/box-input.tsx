// The field of the query box. It works at once. Completion loads when the page is idle, and then takes over text, caret
// and focus.

import { type ComponentType, type RefObject, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { BoxInputProps } from './box-props.ts';

/** The component with completion, once loaded; later boxes use it at once. */
let loaded: ComponentType<BoxInputProps> | undefined;

async function load(): Promise<void> {
  loaded = (await import('./completing-input.tsx')).default;
}

/** Calls back when the browser is idle, after a second at most. */
function whenIdle(run: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(run, 200);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(run, { timeout: 1000 });
  return () => cancelIdleCallback(handle);
}

/** Loads completion. It never replaces the field during an IME composition. */
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
      // Why synchronous: a key pressed in between would be lost.
      flushSync(() => setCompleting(() => found));
      if (!isFocused) return;
      input.current?.focus();
      input.current?.setSelectionRange(selectionStart, selectionEnd);
    };
    // If loading fails, the next box tries again.
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
  // A field that replaces this one gets the focus from it, not from `autoFocus`.
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
