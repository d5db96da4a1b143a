// The state of the query box: text, switches, and the step to the results. On the search page, typing loads a preview;
// `return` runs the full search.

import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { changeParameters, useParameters } from '../data/parameters.ts';
import { useRemembered } from '../data/remembered.ts';
import { isOfSearch, MATCHES_DEFAULT, parametersOf, searchOf } from './address.ts';
import { chosenOf } from './facet-values.ts';
import type { Search } from './messages.ts';
import { narrowed } from './narrowing.ts';
import { forgetPosition, newEntry } from './list-position.ts';
import { useSearch } from './search-store.ts';
import { positionOf } from './summary-text.ts';

/** For previews: the pause after the last key in ms, the least length of the query, and the number of matches. */
const PREVIEW_PAUSE_MS = 120;
const PREVIEW_LENGTH_MIN = 3;
const PREVIEW_MATCHES = 100;

export interface Switches {
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** The search on display, if it is one of typing, which has no address yet. */
function typedSearch(): Search | undefined {
  const { isPreview, displayed, submitted } = useSearch.getState();
  if (!isPreview || displayed === undefined || displayed !== submitted) return undefined;
  return { ...displayed, matches: MATCHES_DEFAULT };
}

/** Gives results of typing an address of their own. */
export function addressTyped(): void {
  const search = typedSearch();
  if (search !== undefined)
    changeParameters((others) => parametersOf(search, others), { state: newEntry() });
}

/** An address of the results on display. */
export function linkToResults(): string {
  const search = typedSearch();
  const link = new URL(location.href);
  if (search !== undefined) link.search = parametersOf(search, link.searchParams).toString();
  return link.href;
}

/** The search of the address, and the function that starts a new one. */
function useSubmittedSearch() {
  const parameters = useParameters();
  const [path, navigate] = useLocation();
  const contextLines = useRemembered((state) => state.contextLines);
  const noteQuery = useRemembered((state) => state.noteQuery);
  const submitted = isOfSearch(path) ? searchOf(parameters, contextLines) : undefined;
  const startSearch = (search: Search): void => {
    if (search.query.trim() === '') return;
    noteQuery(search);
    const others = path === '/search' ? parameters : new URLSearchParams();
    const { startSearch: show, before } = useSearch.getState();
    // Why before navigating: the daemon can search while the page renders.
    show(narrowed(search, chosenOf(others), before));
    const requested = parametersOf(search, others).toString();
    navigate(`/search?${requested}`, {
      replace: requested === others.toString(),
      state: newEntry(),
    });
  };
  return { submitted, startSearch, isOnSearchPage: path === '/search', contextLines };
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

/** Position of a syntax error in code points; undefined: none, or of a different query. */
function useFault(text: string): number | undefined {
  const failure = useSearch((state) => (state.state === 'failed' ? state.failure : undefined));
  const failedQuery = useSearch((state) => state.submitted?.query);
  return failure !== undefined && failedQuery === text ? positionOf(failure) : undefined;
}

export interface BoxState {
  readonly text: string;
  readonly switches: Switches;
  readonly fault: number | undefined;
  /** Does the text differ from the query that was run? */
  readonly isTyped: boolean;
  /** Handles typed text. */
  readonly type: (text: string) => void;
  readonly clear: () => void;
  readonly toggle: (name: keyof Switches) => void;
  /** Replaces the query, and runs it if results are on display. */
  readonly replace: (query: string) => void;
  readonly submit: () => void;
}

export function useBoxState(): BoxState {
  const { submitted, startSearch, isOnSearchPage, contextLines } = useSubmittedSearch();
  const current: Partial<Search> = submitted ?? {};
  const { query: currentQuery, isRegexEnabled = false, isCaseSensitivityEnabled = false } = current;
  const [text, setText] = useState(currentQuery ?? '');
  const [isTyped, setTyped] = useState(false);
  const [switches, setSwitches] = useState<Switches>({ isRegexEnabled, isCaseSensitivityEnabled });
  const isTypingSearch = useRemembered((state) => state.isTypingSearch);
  useEffect(() => {
    if (currentQuery !== undefined) {
      setText(currentQuery);
      setSwitches({ isRegexEnabled, isCaseSensitivityEnabled });
    }
    setTyped(false);
  }, [currentQuery, isRegexEnabled, isCaseSensitivityEnabled]);
  usePreview(text, switches, isTyped && isTypingSearch && isOnSearchPage, contextLines);

  const submit = (changed: Partial<Switches & Pick<Search, 'query'>> = {}): void => {
    setTyped(false);
    startSearch({ query: text, matches: MATCHES_DEFAULT, contextLines, ...switches, ...changed });
  };
  return {
    text,
    switches,
    fault: useFault(text),
    isTyped,
    type: (typed) => {
      forgetPosition();
      setText(typed);
      setTyped(true);
    },
    clear: () => setText(''),
    toggle: (name) => {
      const changed = { [name]: !switches[name] };
      setSwitches({ ...switches, ...changed });
      if (isOnSearchPage) submit(changed);
    },
    replace: (query) => {
      setText(query);
      if (isOnSearchPage && submitted !== undefined) submit({ query });
    },
    submit: () => submit(),
  };
}
