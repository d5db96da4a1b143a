// The query box: what is typed, the switches for regular expressions and case, and the way to the results. On the search page
// it asks while one types; `return` asks for all.

import { CaseSensitive, Regex, Search as SearchIcon, X } from 'lucide-react';
import { Suspense, lazy, useEffect, useId, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { useRemembered } from '../data/remembered.ts';
import { useKey } from '../parts/keys.ts';
import { MATCHES_DEFAULT, parametersOf, searchOf } from './address.ts';
import { BoxInput } from './box-input.tsx';
import { QueryLayer } from './query-layer.tsx';
import type { Search } from './messages.ts';
import { useSearch } from './search-store.ts';
import { positionOf } from './words.ts';

/** Rest after the last key before a preview is asked for, in ms; its length; and its matches. */
const PREVIEW_PAUSE_MS = 120;
const PREVIEW_LENGTH_MIN = 3;
const PREVIEW_MATCHES = 100;

const ContextChoice = lazy(() => import('./context-choice.tsx'));

interface Switches {
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** The query of the address, and the way to write another one there. */
function useAskedSearch() {
  const [parameters] = useSearchParams();
  const [path, navigate] = useLocation();
  const contextLines = useRemembered((state) => state.contextLines);
  const noteQuery = useRemembered((state) => state.noteQuery);
  // Other pages call a filter of theirs `query`.
  const isOfSearch = path === '/search' || path.startsWith('/browse/');
  const asked = isOfSearch ? searchOf(parameters, contextLines) : undefined;
  const ask = (search: Search): void => {
    if (search.query.trim() === '') return;
    noteQuery(search.query);
    const others = path === '/search' ? parameters : new URLSearchParams();
    navigate(`/search?${parametersOf(search, others).toString()}`);
  };
  return { asked, ask, isOnSearchPage: path === '/search', contextLines };
}

function usePreview(text: string, switches: Switches, isOn: boolean, contextLines: number): void {
  const start = useSearch((state) => state.start);
  const { isRegexEnabled, isCaseSensitivityEnabled } = switches;
  useEffect(() => {
    if (!isOn || text.trim().length < PREVIEW_LENGTH_MIN) return;
    const timer = setTimeout(() => {
      const search = {
        query: text,
        matches: PREVIEW_MATCHES,
        contextLines,
        isRegexEnabled,
        isCaseSensitivityEnabled,
      };
      start(search, true);
    }, PREVIEW_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, isRegexEnabled, isCaseSensitivityEnabled, isOn, contextLines, start]);
}

/** Puts the caret where the fault is that a search was refused for. */
function useFaultCaret(
  input: RefObject<HTMLInputElement | null>,
  text: string,
  fault: number | undefined,
): void {
  useEffect(() => {
    if (fault === undefined || document.activeElement !== input.current) return;
    const place = Array.from(text).slice(0, fault).join('').length;
    input.current?.setSelectionRange(place, place);
    // Why not the text: it is that of the fault.
  }, [fault, input]);
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
      <Icon size={16} strokeWidth={1.5} aria-hidden />
    </button>
  );
}

export interface QueryBoxProps {
  /** The box of the start page. */
  readonly isLarge?: boolean;
}

export function QueryBox({ isLarge = false }: QueryBoxProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const { asked, ask, isOnSearchPage, contextLines } = useAskedSearch();
  const [text, setText] = useState(asked?.query ?? '');
  const [isTyped, setTyped] = useState(false);
  const [switches, setSwitches] = useState<Switches>({
    isRegexEnabled: asked?.isRegexEnabled ?? false,
    isCaseSensitivityEnabled: asked?.isCaseSensitivityEnabled ?? false,
  });
  const isTypingSearch = useRemembered((state) => state.isTypingSearch);
  const failure = useSearch((state) => (state.state === 'failed' ? state.failure : undefined));
  const askedQuery = asked?.query;

  useEffect(() => {
    if (askedQuery !== undefined) setText(askedQuery);
    setTyped(false);
  }, [askedQuery]);
  usePreview(text, switches, isTyped && isTypingSearch && isOnSearchPage, contextLines);
  useKey('query', () => {
    input.current?.focus();
    input.current?.select();
  });

  const submit = (changed: Partial<Switches & Pick<Search, 'query'>> = {}): void => {
    setTyped(false);
    ask({ query: text, matches: MATCHES_DEFAULT, contextLines, ...switches, ...changed });
  };
  const setContext = (query: string): void => {
    setText(query);
    if (isOnSearchPage && asked !== undefined) submit({ query });
  };
  const toggle = (name: keyof Switches): void => {
    const changed = { [name]: !switches[name] };
    setSwitches({ ...switches, ...changed });
    if (isOnSearchPage) submit(changed);
  };
  const inBox = (name: keyof Switches) => () => {
    if (document.activeElement !== input.current) return false;
    toggle(name);
    return true;
  };
  useKey('regex', inBox('isRegexEnabled'));
  useKey('case', inBox('isCaseSensitivityEnabled'));
  const failedQuery = useSearch((state) => state.asked?.query);
  const fault = failure !== undefined && failedQuery === text ? positionOf(failure) : undefined;
  const hasFault = fault !== undefined;
  const layer = useRef<HTMLSpanElement>(null);
  useFaultCaret(input, text, isTyped ? undefined : fault);

  return (
    <form
      className={isLarge ? 'query-box query-box-large' : 'query-box'}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <SearchIcon size={16} strokeWidth={1.5} aria-hidden className="box-icon" />
      <Suspense fallback={null}>
        <ContextChoice query={text} change={setContext} />
      </Suspense>
      <span className="box-field">
        <span ref={layer} className="box-layer" aria-hidden>
          <QueryLayer text={text} isRegexEnabled={switches.isRegexEnabled} fault={fault} />
        </span>
        <BoxInput
          input={input}
          text={text}
          setText={(typed) => {
            setText(typed);
            setTyped(true);
          }}
          isRegexEnabled={switches.isRegexEnabled}
          id={id}
          className="box-input"
          aria-label="Query"
          placeholder="Search code: words, file:, lang:, sym:, repo:"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          autoFocus={isLarge}
          aria-invalid={hasFault}
          aria-describedby={hasFault ? 'search-summary' : undefined}
          onScroll={(event) => {
            if (layer.current !== null) layer.current.scrollLeft = event.currentTarget.scrollLeft;
          }}
          data-untouched={text === '' ? '' : undefined}
        />
      </span>
      {text !== '' && (
        <button
          type="button"
          className="icon-button"
          aria-label="Clear the query"
          onClick={() => {
            setText('');
            input.current?.focus();
          }}
        >
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      )}
      <Switch
        label="Regular expressions"
        keys="alt+R"
        Icon={Regex}
        isOn={switches.isRegexEnabled}
        toggle={() => toggle('isRegexEnabled')}
      />
      <Switch
        label="Upper and lower case differ"
        keys="alt+C"
        Icon={CaseSensitive}
        isOn={switches.isCaseSensitivityEnabled}
        toggle={() => toggle('isCaseSensitivityEnabled')}
      />
    </form>
  );
}
