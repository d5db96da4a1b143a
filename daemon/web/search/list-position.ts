// Where one is in the results: kept in the entry of the browser's history, so that back, forward and reload find it again.

/** How far the list is scrolled, in px, and what has the focus. */
export interface ListPosition {
  readonly offset: number;
  readonly key: string | undefined;
  /** 0: the head of the file. */
  readonly line: number;
}

/** A place that a list is to go to, and what had the focus when that became known. */
export interface WantedPosition {
  readonly position: ListPosition;
  readonly focused: Element | null;
}

/** Where one begins. */
const TOP: ListPosition = { offset: 0, key: undefined, line: 0 };

interface EntryState {
  readonly results?: ListPosition;
}

/** Only `savePosition` writes there. */
function entryState(): EntryState {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null ? state : {};
}

/** Of this entry of the history. At its top a list is from the first: to go there would cost a layout. */
function positionOfEntry(): WantedPosition | undefined {
  const position = entryState().results;
  if (position === undefined || (position.offset === 0 && position.key === undefined))
    return undefined;
  return { position, focused: document.activeElement };
}

/** Where a list of this entry is to go; undefined: nowhere. */
let pending = positionOfEntry();
/** A list is there, or on its way. */
let isTaken = false;

// Before the page hears of it: a list whose results are still there is drawn at once.
addEventListener('popstate', () => {
  pending = positionOfEntry();
  isTaken = false;
});

/** Where the list is now: there another list of this entry would go, and nowhere else. */
export function savePosition(position: ListPosition): void {
  history.replaceState({ ...entryState(), results: position }, '');
  pending = positionOfEntry();
  isTaken = true;
}

/** What comes next is no list of this entry. */
export function forgetPosition(): void {
  pending = undefined;
}

/** The state of an entry that is made: it is visited from the first. */
export function newEntry(): EntryState {
  forgetPosition();
  return { results: TOP };
}

/** Marks this entry of the history as visited. @returns  was it visited before? */
export function visitEntry(): boolean {
  const wasHere = entryState().results !== undefined;
  if (!wasHere) savePosition(TOP);
  return wasHere;
}

/** Another list of this entry comes: it goes to the same place. */
export function wantPositionAgain(): void {
  isTaken = false;
}

export function isPositionWanted(): boolean {
  return pending !== undefined && !isTaken;
}

/** The place to go to, once. */
export function takePosition(): WantedPosition | undefined {
  if (isTaken) return undefined;
  isTaken = true;
  return pending;
}
