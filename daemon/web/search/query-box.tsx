// The query box: the coloured text, the switches for regular expressions and case, the context, and a clear button.

import { CaseSensitive, Regex, Search as SearchIcon, X } from 'lucide-react';
import { lazy, type RefObject, Suspense, useEffect, useId, useRef } from 'react';
import { focusSoon } from '../parts/focus-soon.ts';
import { Form } from '../parts/form.tsx';
import { ICON } from '../parts/icon.ts';
import { useKey } from '../parts/keys.ts';
import { BoxInput } from './box-input.tsx';
import { type BoxState, type Switches, useBoxState } from './box-state.ts';
import { QueryLayer } from './query-layer.tsx';

const ContextChoice = lazy(() => import('./context-choice.tsx'));

/** Moves the caret to the syntax error of a failed search. */
function useFaultCaret(
  input: RefObject<HTMLInputElement | null>,
  text: string,
  fault: number | undefined,
): void {
  useEffect(() => {
    if (fault === undefined || document.activeElement !== input.current) return;
    const position = Array.from(text).slice(0, fault).join('').length;
    input.current?.setSelectionRange(position, position);
    // Why not `text`: the effect runs for a new fault only, and the text is the one with that fault.
  }, [fault, input]);
}

/** The keys of the box: `/` focuses it from anywhere; others toggle its switches. */
function useBoxKeys(input: RefObject<HTMLInputElement | null>, toggle: BoxState['toggle']): void {
  useKey('query', () => {
    input.current?.focus();
    input.current?.select();
  });
  const inBox = (name: keyof Switches) => () => {
    if (document.activeElement !== input.current) return false;
    toggle(name);
    return true;
  };
  useKey('regex', inBox('isRegexEnabled'));
  useKey('case', inBox('isCaseSensitivityEnabled'));
}

interface SwitchProps {
  readonly label: string;
  readonly keys: string;
  readonly isOn: boolean;
  readonly Icon: typeof Regex;
  readonly toggle: () => void;
}

function Switch({ label, keys, isOn, Icon, toggle }: SwitchProps) {
  return (
    <button
      type="button"
      className="icon-button box-switch"
      aria-pressed={isOn}
      aria-label={label}
      title={`${label} (${keys})`}
      onClick={toggle}
    >
      <Icon {...ICON} />
    </button>
  );
}

function BoxSwitches({ switches, toggle }: Pick<BoxState, 'switches' | 'toggle'>) {
  return (
    <>
      <Switch
        label="Regular expressions"
        keys="alt+R"
        Icon={Regex}
        isOn={switches.isRegexEnabled}
        toggle={() => toggle('isRegexEnabled')}
      />
      <Switch
        label="Match case"
        keys="alt+C"
        Icon={CaseSensitive}
        isOn={switches.isCaseSensitivityEnabled}
        toggle={() => toggle('isCaseSensitivityEnabled')}
      />
    </>
  );
}

interface BoxFieldProps {
  readonly box: BoxState;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly isLarge: boolean;
}

/** The typed text, above a layer with its colours. */
function BoxField({ box, input, isLarge }: BoxFieldProps) {
  const { text, switches, fault } = box;
  const id = useId();
  const layer = useRef<HTMLSpanElement>(null);
  return (
    <span className="box-field">
      <span ref={layer} className="box-layer" aria-hidden>
        <QueryLayer text={text} isRegexEnabled={switches.isRegexEnabled} fault={fault} />
      </span>
      <BoxInput
        input={input}
        text={text}
        setText={box.type}
        isRegexEnabled={switches.isRegexEnabled}
        id={id}
        className="box-input"
        aria-label="Query"
        placeholder="Search code: words, file:, lang:, sym:, repo:"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        autoFocus={isLarge}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : 'search-summary'}
        onScroll={(event) => {
          if (layer.current !== null) layer.current.scrollLeft = event.currentTarget.scrollLeft;
        }}
        data-untouched={text === '' ? '' : undefined}
      />
    </span>
  );
}

export interface QueryBoxProps {
  /** For the start page. */
  readonly isLarge?: boolean;
}

export function QueryBox({ isLarge = false }: QueryBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const box = useBoxState();
  useBoxKeys(input, box.toggle);
  useFaultCaret(input, box.text, box.isTyped ? undefined : box.fault);
  const clear = (): void => {
    box.clear();
    input.current?.focus();
  };
  return (
    <Form
      className={isLarge ? 'query-box query-box-large' : 'query-box'}
      role="search"
      send={() => {
        box.submit();
        // The start page's box disappears; focus moves to that of the header.
        if (isLarge) focusSoon(() => document.querySelector<HTMLElement>('.header .box-input'));
      }}
    >
      <SearchIcon {...ICON} className="box-icon" />
      <Suspense fallback={null}>
        <ContextChoice
          query={box.text}
          isRegexEnabled={box.switches.isRegexEnabled}
          change={box.replace}
        />
      </Suspense>
      <BoxField box={box} input={input} isLarge={isLarge} />
      {box.text !== '' && (
        <button type="button" className="icon-button" aria-label="Clear query" onClick={clear}>
          <X {...ICON} />
        </button>
      )}
      <BoxSwitches {...box} />
    </Form>
  );
}
