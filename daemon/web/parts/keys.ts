// The keyboard shortcuts: one table, displayed by `?`, and one listener that runs the bound functions. Single keys do
// nothing in fields and dialogs, and can be switched off.

import { useEffect, useRef } from 'react';
import { useRemembered } from '../data/remembered.ts';

interface KeyEntry {
  /** Key chords such as `mod+k` (Ctrl, on macOS Cmd), `shift+j` or `g g`. With alt, the physical key counts. */
  readonly chords: readonly string[];
  readonly where: string;
  readonly does: string;
}

export const KEYS = {
  query: { chords: ['/'], where: 'Anywhere', does: 'Focus and select the query' },
  palette: {
    chords: ['mod+k'],
    where: 'Anywhere',
    does: 'Go to pages, repositories, settings, theme',
  },
  keys: { chords: ['?'], where: 'Anywhere', does: 'Show keyboard shortcuts' },
  syntax: { chords: ['mod+/'], where: 'Anywhere', does: 'Show query syntax' },
  regex: { chords: ['alt+r'], where: 'Query', does: 'Regular expressions' },
  case: { chords: ['alt+c'], where: 'Query', does: 'Match case' },
  down: { chords: ['arrowdown', 'escape'], where: 'Query', does: 'Go to the results' },
  nextMatch: { chords: ['j', 'arrowdown'], where: 'Results', does: 'Next match' },
  previousMatch: { chords: ['k', 'arrowup'], where: 'Results', does: 'Previous match' },
  nextFile: { chords: ['shift+j'], where: 'Results', does: 'Next file' },
  previousFile: { chords: ['shift+k'], where: 'Results', does: 'Previous file' },
  first: { chords: ['g g'], where: 'Results', does: 'First file' },
  last: { chords: ['shift+g'], where: 'Results', does: 'Last file' },
  context: { chords: ['e'], where: 'Results', does: 'More lines around the match' },
  fold: { chords: ['x'], where: 'Results', does: 'Fold or unfold the file' },
  preview: { chords: ['v'], where: 'Results', does: 'Preview the file' },
  filters: { chords: ['f', 'mod+b'], where: 'Results', does: 'Filters' },
  copyLink: { chords: ['c'], where: 'Results and files', does: 'Copy a link to the line' },
  copyLocation: { chords: ['shift+c'], where: 'Results and files', does: 'Copy path:line' },
  findFile: { chords: ['t', 'mod+p'], where: 'Repository', does: 'Find a file' },
  tree: { chords: ['mod+b'], where: 'Repository', does: 'File tree' },
  blame: { chords: ['b'], where: 'File', does: 'Blame' },
  outline: { chords: ['o'], where: 'File', does: 'Outline' },
  history: { chords: ['h', 'mod+shift+h'], where: 'File', does: 'History' },
  nextHit: { chords: ['n'], where: 'File', does: 'Next match' },
  previousHit: { chords: ['p'], where: 'File', does: 'Previous match' },
  findText: { chords: ['mod+f'], where: 'File', does: 'Find in the file' },
  goToLine: { chords: ['l'], where: 'File', does: 'Go to a line' },
  pin: { chords: ['y'], where: 'File', does: 'Pin the address to this commit' },
  card: { chords: ['i'], where: 'File, on a name', does: 'Show hover card' },
  definition: { chords: ['d', 'alt+f12'], where: 'File, on a name', does: 'Go to the definition' },
  references: { chords: ['r', 'alt+shift+f12'], where: 'File, on a name', does: 'References' },
  explore: {
    chords: ['mod+shift+e'],
    where: 'File, on a name',
    does: 'Definitions and references',
  },
  nextPlace: { chords: ['j', 'arrowdown'], where: 'File panel', does: 'Next occurrence' },
  previousPlace: { chords: ['k', 'arrowup'], where: 'File panel', does: 'Previous occurrence' },
  allRepos: { chords: ['shift+a'], where: 'File panel', does: 'This repository or all' },
  closePanel: { chords: ['escape'], where: 'File panel', does: 'Close the panel' },
  nextChange: { chords: ['j'], where: 'Commit', does: 'Next change' },
  previousChange: { chords: ['k'], where: 'Commit', does: 'Previous change' },
  moreLines: { chords: ['e'], where: 'Commit', does: 'More lines around the next change' },
  nextChanged: { chords: ['n'], where: 'Commit', does: 'Next file' },
  previousChanged: { chords: ['p'], where: 'Commit', does: 'Previous file' },
  split: { chords: ['u'], where: 'Commit', does: 'Unified or split' },
} as const satisfies Readonly<Record<string, KeyEntry>>;

export type KeyName = keyof typeof KEYS;

/** Handles a key. @returns  false: not handled */
type Run = (event: KeyboardEvent) => boolean | void;

/** Handlers by key name; undefined: disabled. */
type Runs = Readonly<Partial<Record<KeyName, Run | undefined>>>;

const bound: { readonly current: Runs }[] = [];

export const IS_MAC = /mac|iphone|ipad/i.test(navigator.userAgent);
/** ms between the two keys of a chord such as `g g`. */
const SEQUENCE_MS = 1000;
let lastKey = { chord: '', at: 0 };

function chordOf(event: KeyboardEvent): string {
  const name = event.altKey ? event.code.replace(/^Key/, '') : event.key;
  const isShiftSaid = event.shiftKey && /^([a-z]|.{2,})$/i.test(name);
  return [
    (IS_MAC ? event.metaKey : event.ctrlKey) && 'mod',
    (IS_MAC ? event.ctrlKey : event.metaKey) && 'other',
    event.altKey && 'alt',
    isShiftSaid && 'shift',
    name.toLowerCase(),
  ]
    .filter((part) => part !== false)
    .join('+');
}

const FIELD =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"]';

function isIn(event: Event, selector: string): boolean {
  return event.target instanceof Element && event.target.closest(selector) !== null;
}

function isAllowed(event: KeyboardEvent): boolean {
  if (isIn(event, 'dialog, [role="dialog"]')) return false;
  const isNamedKey = event.key.length > 1;
  if (event.ctrlKey || event.metaKey || event.altKey || isNamedKey) return true;
  if (!useRemembered.getState().hasSingleKeys) return false;
  // Exception: `/` works in the start page's box until something is typed.
  return !isIn(event, FIELD) || (event.key === '/' && isIn(event, '[data-untouched]'));
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || !isAllowed(event)) return;
  const chord = chordOf(event);
  const isSequence = event.timeStamp - lastKey.at < SEQUENCE_MS;
  const chords: readonly string[] = isSequence ? [`${lastKey.chord} ${chord}`, chord] : [chord];
  lastKey = { chord, at: event.timeStamp };
  const isPressed = (name: KeyName): boolean =>
    KEYS[name].chords.some((one) => chords.includes(one));
  for (const { current } of bound.toReversed()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names of `Runs`
    const names = (Object.keys(current) as KeyName[]).filter(isPressed);
    const isDone = names.some((name) => {
      const run = current[name];
      return run !== undefined && run(event) !== false;
    });
    if (!isDone) continue;
    event.preventDefault();
    lastKey.at = 0;
    return;
  }
}

/** Binds keys while the component is mounted. The latest binding comes first. */
export function useKeys(runs: Runs): void {
  const latest = useRef(runs);
  latest.current = runs;
  useEffect(() => {
    if (bound.length === 0) addEventListener('keydown', onKey);
    bound.push(latest);
    return () => {
      bound.splice(bound.indexOf(latest), 1);
      if (bound.length === 0) removeEventListener('keydown', onKey);
    };
  }, []);
}

/** Like `useKeys`, for a single key. */
export function useKey(name: KeyName, run: Run): void {
  useKeys({ [name]: run });
}
