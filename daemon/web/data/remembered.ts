// What this browser remembers for its person: settings and what was asked before. Never a secret. Works without storage, for
// as long as the page is open. Other tabs of the same person have what one changes, and hear of signing out, at once.

import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import type { Editor } from './editors.ts';
import { BASE_PATH } from './base-path.ts';

const PREFIX = `trawl:${BASE_PATH}:`;
const HISTORY_MAX = 200;
const FILES_MAX = 50;

/** A file that was looked at. */
export interface RecentFile {
  readonly repo: string;
  readonly path: string;
}

export type Theme = 'system' | 'light' | 'dark';

export type Keymap = 'default' | 'vim';

/** What is remembered for each person, with what holds until they choose. */
const DEFAULTS = {
  /** Queries, the newest first. */
  queries: [] as readonly string[],
  isTypingSearch: true,
  contextLines: 1,
  /** Keys without mod or alt outside of fields. */
  hasSingleKeys: true,
  areFiltersShown: true,
  /** Width of the preview, in % of the results. */
  previewShare: 45,
  /** Width of the tree of files, in px. */
  treeWidth: 260,
  /** Files that were looked at, the last one first. */
  files: [] as readonly RecentFile[],
  /** Columns of a tab. */
  tabWidth: 4,
  /** Long lines of a file go on in the next row. */
  isWrapped: false,
  /** Changes in one column rather than two. */
  isDiffUnified: false,
  keymap: 'default' as Keymap,
  /** The symbols of a file stand beside it. */
  isOutlineShown: false,
  /** What opens a file on the machine of its reader; see `EditorChoice`. */
  editor: 'none' as Editor,
  cloneFolder: '',
  editorTemplate: '',
};

export type Settings = Readonly<typeof DEFAULTS>;

/** What somebody asked and looked at. */
type Traces = Pick<Settings, 'queries' | 'files'>;

const NO_TRACES: Traces = { queries: [], files: [] };

interface Remembered extends Settings {
  /** Has the daemon said that it is this person who is here? */
  readonly isConfirmed: boolean;
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
  readonly noteQuery: (query: string) => void;
  readonly noteFile: (file: RecentFile) => void;
  readonly set: (settings: Partial<Settings>) => void;
  /** What was asked and looked at. */
  readonly forgetTraces: () => void;
  /** All of it but for the theme. */
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
    // No storage, or none left.
  }
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
}

const GUEST = 'guest';

/** Who used this browser last: their settings are there before the daemon has said who is here. */
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
        tabs?.postMessage({ theme } satisfies Word);
      },
      noteQuery: (query) => {
        if (!get().isConfirmed) return;
        const others = get().queries.filter((other) => other !== query);
        set({ queries: [query, ...others].slice(0, HISTORY_MAX) });
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
      // Without storage nothing is kept, and nothing fails.
      storage: createJSONStorage(() => localStorage),
      partialize: (all): Settings =>
        // Safety: the names are those of the defaults.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        Object.fromEntries(
          Object.entries(all).filter(([name]) => name in DEFAULTS),
        ) as unknown as Settings,
      // Why: of another person nothing may stay.
      merge: (stored, current) => ({ ...current, ...DEFAULTS, ...Object(stored) }),
    },
  ),
);

/** What a person asked and looked at is shown to nobody else: none, until the daemon has said who is here. */
export function tracesOf(state: Remembered): Traces {
  return state.isConfirmed ? state : NO_TRACES;
}

/** What is stored of a person, as `persist` writes it, without their traces; undefined: it is damaged. */
function withoutTraces(stored: string): string | undefined {
  try {
    const all = Object(JSON.parse(stored));
    return JSON.stringify({ ...all, state: { ...Object(all.state), ...NO_TRACES } });
  } catch {
    return undefined;
  }
}

/** Somebody signed in where others had been: of those only what they chose stays, as when they sign out. */
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

/** From now on what is remembered is that of this person; undefined: of a guest. */
export function rememberFor(person: string | undefined): void {
  const name = nameFor(person ?? GUEST);
  if (person !== undefined) forgetOthers(name);
  if (useRemembered.persist.getOptions().name !== name) {
    write('person', person ?? GUEST);
    useRemembered.persist.setOptions({ name });
    void useRemembered.persist.rehydrate();
  }
  useRemembered.setState({ isConfirmed: true });
  tabs?.postMessage({ person: name } satisfies Word);
}

// What another tab of the person has written: kept as it was before, it would be undone by the next change in this one.
addEventListener('storage', ({ key }: StorageEvent) => {
  const { persist } = useRemembered;
  if (key === persist.getOptions().name) void persist.rehydrate();
});

/** What tabs tell each other. */
interface Word {
  readonly theme?: Theme;
  readonly isSignedOut?: true;
  /** Who is there, by the name of what is remembered. */
  readonly person?: string;
}

const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(PREFIX) : undefined;

tabs?.addEventListener('message', ({ data }: MessageEvent<Word>) => {
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

/** Runs where another tab is that of another person. */
export function heedOtherPerson(heed: () => void): void {
  otherPerson = heed;
}

/** Other tabs of this instance show nothing more of the person. */
export function announceSignedOut(): void {
  tabs?.postMessage({ isSignedOut: true } satisfies Word);
}
