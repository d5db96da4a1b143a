// What this browser remembers for its person: settings and what was asked before. Never a secret. Works without storage, for
// as long as the page is open.

import { create } from 'zustand';
import { BASE_PATH } from './place.ts';

const PREFIX = `trawl:${BASE_PATH}:`;
const HISTORY_MAX = 200;

function read<Value>(name: string, fallback: Value): Value {
  try {
    const text = localStorage.getItem(PREFIX + name);
    // Safety: only `write` below puts values there; a wrong one is at worst not obeyed.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return text === null ? fallback : (JSON.parse(text) as Value);
  } catch {
    return fallback;
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // No storage, or none left.
  }
}

export type Theme = 'system' | 'light' | 'dark';

interface Remembered {
  readonly theme: Theme;
  /** Queries, the newest first. */
  readonly queries: readonly string[];
  readonly isTypingSearch: boolean;
  readonly contextLines: number;
  readonly setTheme: (theme: Theme) => void;
  readonly noteQuery: (query: string) => void;
  readonly setTypingSearch: (isOn: boolean) => void;
  readonly setContextLines: (count: number) => void;
  /** All of it, on signing out. */
  readonly forget: () => void;
}

/** The theme is read by theme.ts before anything else runs, as bare text. */
function storedTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  try {
    localStorage.setItem(`${PREFIX}theme`, theme);
  } catch {
    // No storage.
  }
}

export const useRemembered = create<Remembered>()((set, get) => ({
  theme: storedTheme(),
  queries: read<readonly string[]>('queries', []),
  isTypingSearch: read('typing', true),
  contextLines: read('context', 1),
  setTheme: (theme) => {
    applyTheme(theme);
    set({ theme });
  },
  noteQuery: (query) => {
    const queries = [query, ...get().queries.filter((other) => other !== query)].slice(
      0,
      HISTORY_MAX,
    );
    write('queries', queries);
    set({ queries });
  },
  setTypingSearch: (isTypingSearch) => {
    write('typing', isTypingSearch);
    set({ isTypingSearch });
  },
  setContextLines: (contextLines) => {
    write('context', contextLines);
    set({ contextLines });
  },
  forget: () => {
    for (const name of ['queries', 'typing', 'context']) {
      try {
        localStorage.removeItem(PREFIX + name);
      } catch {
        // No storage.
      }
    }
    set({ queries: [] });
  },
}));
