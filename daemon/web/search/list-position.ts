// The scroll position in the results. It is stored in the browser's history entry, for back, forward and reload.

/** Scroll offset in px, and the focused line. */
export interface ListPosition {
  readonly offset: number;
  readonly key: string | undefined;
  /** 0: the head of the file. */
  readonly line: number;
}

/** A position to restore, and the element that had the focus when the request was made. */
export interface RequestedPosition {
  readonly position: ListPosition;
  readonly focused: Element | null;
}

/** Initial position. */
const TOP: ListPosition = { offset: 0, key: undefined, line: 0 };

interface EntryState {
  readonly results?: ListPosition;
}

/** Only `savePosition` writes it. */
function entryState(): EntryState {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null ? state : {};
}

/**
 * The position stored in this history entry. Undefined at the top, where lists begin anyway: scrolling there would cost
 * a layout.
 */
function positionOfEntry(): RequestedPosition | undefined {
  const position = entryState().results;
  if (position === undefined || (position.offset === 0 && position.key === undefined))
    return undefined;
  return { position, focused: document.activeElement };
}

/** The position that the next list of this entry restores; undefined: none. */
let pending = positionOfEntry();
/** Has a list taken the position? */
let isTaken = false;

// Why before React hears of it: a list whose results are in memory renders at once.
addEventListener('popstate', () => {
  pending = positionOfEntry();
  isTaken = false;
});

/** Stores the current position. A new list of this entry would restore it. */
export function savePosition(position: ListPosition): void {
  history.replaceState({ ...entryState(), results: position }, '');
  pending = positionOfEntry();
  isTaken = true;
}

/** The next list does not belong to this entry. */
export function forgetPosition(): void {
  pending = undefined;
}

/** The state of a new history entry, already marked as visited. */
export function newEntry(): EntryState {
  forgetPosition();
  return { results: TOP };
}

/** Marks this history entry as visited. @returns  was it visited before? */
export function visitEntry(): boolean {
  const wasHere = entryState().results !== undefined;
  if (!wasHere) savePosition(TOP);
  return wasHere;
}

/** A new list of this entry restores the same position. */
export function wantPositionAgain(): void {
  isTaken = false;
}

export function isPositionRequested(): boolean {
  return pending !== undefined && !isTaken;
}

/** Returns the position once. */
export function takePosition(): RequestedPosition | undefined {
  if (isTaken) return undefined;
  isTaken = true;
  return pending;
}
