// The field of the query box with completion. It suggests values for the word at the caret, in groups; `return` or
// `tab` accepts one. A separate chunk.

import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxPopover,
  useComboboxStore,
} from '@ariakit/react';
import type { ComboboxStore } from '@ariakit/react';
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import type { BoxInputProps } from './box-props.ts';
import type { Choice } from './completion.ts';
import { useChoices } from './suggesting.ts';

/** The choices by group, in order. */
function grouped(choices: readonly Choice[]): ReadonlyMap<string, readonly Choice[]> {
  const groups = new Map<string, Choice[]>();
  for (const choice of choices)
    groups.set(choice.group, [...(groups.get(choice.group) ?? []), choice]);
  return groups;
}

interface SuggestionsProps {
  readonly store: ComboboxStore;
  readonly choices: readonly Choice[];
  readonly take: (choice: Choice) => void;
}

function Suggestions({ store, choices, take }: SuggestionsProps) {
  return (
    <ComboboxPopover
      store={store}
      className="suggestions"
      gutter={4}
      portal
      unmountOnHide
      hideOnEscape={false}
      aria-label="Suggestions"
    >
      <ComboboxList store={store} className="suggestions-list" aria-label="Suggestions">
        {[...grouped(choices)].map(([group, own]) => (
          <ComboboxGroup key={group} className="suggestions-group">
            <ComboboxGroupLabel className="suggestions-label">{group}</ComboboxGroupLabel>
            {own.map((choice) => (
              <ComboboxItem
                key={choice.label}
                className="suggestion"
                hideOnClick={false}
                setValueOnClick={false}
                focusOnHover
                // Why: the field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(choice)}
              >
                <Name className="suggestion-value">{choice.label}</Name>
                <span className="suggestion-what">
                  <VisibleText text={choice.description} />
                </span>
              </ComboboxItem>
            ))}
          </ComboboxGroup>
        ))}
      </ComboboxList>
      <p className="suggestions-keys" aria-hidden>
        ↑ ↓ choose · tab or return take · esc close
      </p>
    </ComboboxPopover>
  );
}

type OfferedProps = Pick<BoxInputProps, 'input' | 'text' | 'setText' | 'isRegexEnabled'>;

/** Tracks the caret, holds the choices for the word there, and inserts the accepted one. */
function useOffered({ input, text, setText, isRegexEnabled }: OfferedProps) {
  const [isRequested, setRequested] = useState(false);
  const [caret, setCaret] = useState(text.length);
  const placed = useRef<number>(undefined);
  const choices = useChoices(text, caret, isRegexEnabled, isRequested);
  const isOpen = isRequested && choices.length > 0;
  const store = useComboboxStore({
    open: isOpen,
    setOpen: (open) => {
      if (!open) setRequested(false);
    },
    value: text,
    focusLoop: true,
  });
  useLayoutEffect(() => {
    if (placed.current === undefined) return;
    input.current?.setSelectionRange(placed.current, placed.current);
    placed.current = undefined;
  }, [text, input]);

  const take = (choice: Choice): void => {
    placed.current = choice.caret;
    setCaret(choice.caret);
    setText(choice.text);
    store.setActiveId(null);
    // A prefix needs a value next.
    setRequested(choice.text.charAt(choice.caret - 1) === ':');
    input.current?.focus();
  };
  const takeActive = (): boolean => {
    const { activeId } = store.getState();
    const item = activeId === null ? undefined : store.item(activeId);
    item?.element?.click();
    return item !== undefined && item !== null;
  };
  return { store, choices, isOpen, setRequested, setCaret, take, takeActive };
}

export default function CompletingInput({
  input,
  text,
  setText,
  isRegexEnabled,
  onKeyDown,
  autoFocus = false,
  ...rest
}: BoxInputProps) {
  const { store, choices, isOpen, setRequested, setCaret, take, takeActive } = useOffered({
    input,
    text,
    setText,
    isRegexEnabled,
  });
  const onKey = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === ' ' && event.ctrlKey) setRequested(true);
    else if (event.key === 'Escape' && isOpen) setRequested(false);
    else if (event.key !== 'Tab' || event.shiftKey || !isOpen || !takeActive()) {
      if (event.key === 'Enter' && store.getState().activeId === null) {
        // Also cancels suggestions that are still loading.
        setRequested(false);
        // Why also in the store: while open, it does not let `return` reach the form.
        store.setOpen(false);
      }
      onKeyDown?.(event);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <>
      <Combobox
        {...rest}
        autoFocus={autoFocus}
        ref={input}
        store={store}
        // Why not the store's value: it lags one step, and writing an older text cancels an IME composition.
        value={text}
        autoComplete="list"
        showOnClick={false}
        showOnChange={false}
        showOnKeyPress={false}
        setValueOnChange={false}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionStart ?? event.target.value.length);
          setRequested(true);
          store.setActiveId(null);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
        onBlur={() => setRequested(false)}
        onKeyDown={onKey}
      />
      <Suggestions store={store} choices={choices} take={take} />
    </>
  );
}
