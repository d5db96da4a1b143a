// The keys of the pages: one table of what there is, which `?` shows, and one listener that runs what is bound. Keys without
// mod or alt do nothing in fields and dialogs, and can be switched off.

import { useEffect, useRef } from 'react';
import { useRemembered } from '../data/remembered.ts';

interface KeyEntry {
  /** Chords, such as `mod+k` (Ctrl, on macOS Cmd), `shift+j`, `g g`; alt keys by their place on the keyboard. */
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
  keys: { chords: ['?'], where: 'Anywhere', does: 'Show the keys' },
  syntax: { chords: ['mod+/'], where: 'Anywhere', does: 'Show the syntax of queries' },
  regex: { chords: ['alt+r'], where: 'Query', does: 'Regular expressions' },
  case: { chords: ['alt+c'], where: 'Query', does: 'Upper and lower case differ' },
  down: { chords: ['arrowdown', 'escape'], where: 'Query', does: 'Go to the results' },
  nextMatch: { chords: ['j', 'arrowdown'], where: 'Results', does: 'Next match' },
  previousMatch: { chords: ['k', 'arrowup'], where: 'Results', does: 'Previous match' },
  nextFile: { chords: ['shift+j'], where: 'Results', does: 'Next file' },
  previousFile: { chords: ['shift+k'], where: 'Results', does: 'Previous file' },
  first: { chords: ['g g'], where: 'Results', does: 'First file' },
  last: { chords: ['shift+g'], where: 'Results', does: 'Last file' },
  context: { chords: ['e'], where: 'Results', does: 'More lines around the match' },
  fold: { chords: ['x'], where: 'Results', does: 'Fold the file, unfold it' },
  preview: { chords: ['v'], where: 'Results', does: 'Preview of the file' },
  filters: { chords: ['f', 'mod+b'], where: 'Results', does: 'Filters' },
  copyLink: { chords: ['c'], where: 'Results', does: 'Copy a link to the line' },
  copyPlace: { chords: ['shift+c'], where: 'Results', does: 'Copy path:line' },
} as const satisfies Readonly<Record<string, KeyEntry>>;

export type KeyName = keyof typeof KEYS;

/** Runs the key; false: it was not meant here. */
type Run = (event: KeyboardEvent) => boolean | void;

const bound: { readonly name: KeyName; readonly run: { readonly current: Run } }[] = [];

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
  const isNamed = event.key.length > 1;
  if (event.ctrlKey || event.metaKey || event.altKey || isNamed) return true;
  if (!useRemembered.getState().hasSingleKeys) return false;
  // The one field where a key means a key: the box of the start page while nothing was typed.
  return !isIn(event, FIELD) || (event.key === '/' && isIn(event, '[data-untouched]'));
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || !isAllowed(event)) return;
  const chord = chordOf(event);
  const isSequence = event.timeStamp - lastKey.at < SEQUENCE_MS;
  const chords: readonly string[] = isSequence ? [`${lastKey.chord} ${chord}`, chord] : [chord];
  lastKey = { chord, at: event.timeStamp };
  for (const { name, run } of bound.toReversed()) {
    if (!KEYS[name].chords.some((one) => chords.includes(one))) continue;
    if (run.current(event) === false) continue;
    event.preventDefault();
    lastKey.at = 0;
    return;
  }
}

/** Binds a key of the table while the component is there; what is bound last is asked first. */
export function useKey(name: KeyName, run: Run): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const own = { name, run: latest };
    if (bound.length === 0) addEventListener('keydown', onKey);
    bound.push(own);
    return () => {
      bound.splice(bound.indexOf(own), 1);
      if (bound.length === 0) removeEventListener('keydown', onKey);
    };
  }, [name]);
}
