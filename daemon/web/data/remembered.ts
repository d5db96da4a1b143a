// What this browser stores for a user: settings and recent activity. Never a secret. Without storage it lasts as long
// as the page. Changes and sign-outs reach the user's other tabs at once.

import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { Editor } from './editors.ts';
import { BASE_PATH } from './base-path.ts';

const PREFIX = `trawl:${BASE_PATH}:`;
const HISTORY_MAX = 200;
const FILES_MAX = 50;

/** A recently viewed file. */
export interface RecentFile {
  readonly repo: string;
  readonly path: string;
}

/** A recent search. */
export interface RecentQuery {
  readonly query: string;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

export type Theme = 'system' | 'light' | 'dark';

export type Keymap = 'default' | 'vim';

/** What is stored for each user, with its default. */
const DEFAULTS = {
  /** Recent queries, newest first, each with the switches of its last search. */
  queries: [] as readonly RecentQuery[],
  isTypingSearch: true,
  contextLines: 1,
  /** Single-key shortcuts, outside of fields. */
  hasSingleKeys: true,
  areFiltersDisplayed: true,
  /** Width of the preview, in % of the results. */
  previewShare: 45,
  /** Width of the file tree, in px. */
  treeWidth: 260,
  /** Recently viewed files, latest first. */
  files: [] as readonly RecentFile[],
  /** Tab width in columns. */
  tabWidth: 4,
  /** Wrap long lines of files? */
  isWrapped: false,
  /** Show changes in one column instead of two? */
  isDiffUnified: false,
  keymap: 'default' as Keymap,
  /** Show the outline beside the file? */
  isOutlineVisible: false,
  /** The editor that opens files on the reader's machine; see `EditorChoice`. */
  editor: 'none' as Editor,
  cloneFolder: '',
  editorTemplate: '',
};

export type Settings = Readonly<typeof DEFAULTS>;

/** The user's recent activity. */
type Traces = Pick<Settings, 'queries' | 'files'>;

const NO_TRACES: Traces = { queries: [], files: [] };

interface Remembered extends Settings {
  /** Has the daemon confirmed that this user is signed in? */
  readonly isConfirmed: boolean;
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
  readonly noteQuery: (query: RecentQuery) => void;
  readonly noteFile: (file: RecentFile) => void;
  readonly set: (settings: Partial<Settings>) => void;
  /** Clears recent activity. */
  readonly forgetTraces: () => void;
  /** Clears everything except the theme. */
  readonly forget: () => void;
}

function read(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // No storage, or it is full.
  }
}

/** Bare text, since theme.ts reads it before any other code runs. */
function storedTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
}

const GUEST = 'guest';

/** Earlier versions stored only the text of a query. */
function withSwitches(stored: string | RecentQuery): RecentQuery {
  return typeof stored === 'string'
    ? { query: stored, isRegexEnabled: false, isCaseSensitivityEnabled: false }
    : stored;
}

/** The storage key of a user. The last user's settings apply until the daemon says who is signed in. */
function nameFor(person: string): string {
  return `${PREFIX}${person}:remembered`;
}

export const useRemembered = create<Remembered>()(
  persist(
    (set, get) => ({
      ...DEFAULTS,
      isConfirmed: false,
      theme: storedTheme(),
      setTheme: (theme) => {
        applyTheme(theme);
        write('theme', theme);
        set({ theme });
        tabs?.postMessage({ theme } satisfies TabMessage);
      },
      noteQuery: ({ query, isRegexEnabled, isCaseSensitivityEnabled }) => {
        if (!get().isConfirmed) return;
        const others = get().queries.filter((other) => other.query !== query);
        const noted = { query, isRegexEnabled, isCaseSensitivityEnabled };
        set({ queries: [noted, ...others].slice(0, HISTORY_MAX) });
      },
      noteFile: ({ repo, path }) => {
        if (!get().isConfirmed) return;
        const others = get().files.filter((other) => other.repo !== repo || other.path !== path);
        set({ files: [{ repo, path }, ...others].slice(0, FILES_MAX) });
      },
      set: (settings) => set(settings),
      forgetTraces: () => set(NO_TRACES),
      forget: () => set(DEFAULTS),
    }),
    {
      name: nameFor(read('person') ?? GUEST),
      // Without storage nothing is kept; no error.
      storage: createJSONStorage(() => localStorage),
      partialize: (all): Settings =>
        // Safety: the names are those of DEFAULTS.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        Object.fromEntries(
          Object.entries(all).filter(([name]) => name in DEFAULTS),
        ) as unknown as Settings,
      // Why defaults again: nothing of the previous user may remain.
      merge: (stored, current) => {
        const all = { ...current, ...DEFAULTS, ...Object(stored) };
        return { ...all, queries: all.queries.map(withSwitches) };
      },
    },
  ),
);

/** Recent activity; empty until the daemon has confirmed the user, so that nobody else sees it. */
export function tracesOf(state: Remembered): Traces {
  return state.isConfirmed ? state : NO_TRACES;
}

/** The stored data of a user, as written by `persist`, without recent activity; undefined: damaged. */
function withoutTraces(stored: string): string | undefined {
  try {
    const all = Object(JSON.parse(stored));
    return JSON.stringify({ ...all, state: { ...Object(all.state), ...NO_TRACES } });
  } catch {
    return undefined;
  }
}

/** After a sign-in, keeps only the settings of other users, as their sign-out does. */
function forgetOthers(name: string): void {
  try {
    const kept = Object.keys(localStorage).filter((one) => /^trawl:.*:remembered$/.test(one));
    for (const one of kept) {
      if (!one.startsWith(PREFIX) || one === name || one === nameFor(GUEST)) continue;
      const rest = withoutTraces(localStorage.getItem(one) ?? '');
      if (rest === undefined) localStorage.removeItem(one);
      else localStorage.setItem(one, rest);
    }
  } catch {
    // No storage.
  }
}

/** Switches to the data of this user; undefined: guest. */
export function rememberFor(person: string | undefined): void {
  const name = nameFor(person ?? GUEST);
  if (person !== undefined) forgetOthers(name);
  if (useRemembered.persist.getOptions().name !== name) {
    write('person', person ?? GUEST);
    useRemembered.persist.setOptions({ name });
    void useRemembered.persist.rehydrate();
  }
  useRemembered.setState({ isConfirmed: true });
  tabs?.postMessage({ person: name } satisfies TabMessage);
}

// Reads what another tab of this user wrote. Otherwise the next change in this tab would undo it.
addEventListener('storage', ({ key }: StorageEvent) => {
  const { persist } = useRemembered;
  if (key === persist.getOptions().name) void persist.rehydrate();
});

/** A message between tabs. */
interface TabMessage {
  readonly theme?: Theme;
  readonly isSignedOut?: true;
  /** The signed-in user, as a storage key. */
  readonly person?: string;
}

const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(PREFIX) : undefined;

tabs?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
  if (data.theme !== undefined) {
    applyTheme(data.theme);
    useRemembered.setState({ theme: data.theme });
  }
  if (data.isSignedOut === true) location.reload();
  const isOther =
    data.person !== undefined && data.person !== useRemembered.persist.getOptions().name;
  if (isOther) otherPerson?.();
});

let otherPerson: (() => void) | undefined;

/** Called when another tab has a different user. */
export function heedOtherPerson(heed: () => void): void {
  otherPerson = heed;
}

/** Makes other tabs of this instance reload, so that they show nothing of the user. */
export function announceSignedOut(): void {
  tabs?.postMessage({ isSignedOut: true } satisfies TabMessage);
}
