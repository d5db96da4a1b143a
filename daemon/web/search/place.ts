// Where one is in the results: kept in the entry of the browser's history, so that back, forward and reload find it again.

/** How far the list is scrolled, in px, and what has the focus. */
export interface ResultPlace {
  readonly offset: number;
  readonly key: string | undefined;
  /** 0: the head of the file. */
  readonly line: number;
}

/** A place that a list is to go to, and what had the focus when that became known. */
export interface WantedPlace {
  readonly place: ResultPlace;
  readonly focused: Element | null;
}

/** Where one begins. */
const TOP: ResultPlace = { offset: 0, key: undefined, line: 0 };

interface EntryState {
  readonly results?: ResultPlace;
}

/** Only `keepPlace` writes there. */
function entryState(): EntryState {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null ? state : {};
}

/** Of this entry of the history. At its top a list is from the first: to go there would cost a layout. */
function placeOfEntry(): WantedPlace | undefined {
  const place = entryState().results;
  if (place === undefined || (place.offset === 0 && place.key === undefined)) return undefined;
  return { place, focused: document.activeElement };
}

/** Where a list of this entry is to go; undefined: nowhere. */
let wanted = placeOfEntry();
/** A list is there, or on its way. */
let isTaken = false;

// Before the page hears of it: a list whose results are still there is drawn at once.
addEventListener('popstate', () => {
  wanted = placeOfEntry();
  isTaken = false;
});

/** Where the list is now: there another list of this entry would go, and nowhere else. */
export function keepPlace(place: ResultPlace): void {
  history.replaceState({ ...entryState(), results: place }, '');
  wanted = placeOfEntry();
  isTaken = true;
}

/** What comes next is no list of this entry. */
export function forgetPlace(): void {
  wanted = undefined;
}

/** The state of an entry that is made: it is visited from the first. */
export function newEntry(): EntryState {
  forgetPlace();
  return { results: TOP };
}

/** Marks this entry of the history as visited. @returns  was it visited before? */
export function visitEntry(): boolean {
  const wasHere = entryState().results !== undefined;
  if (!wasHere) keepPlace(TOP);
  return wasHere;
}

/** Another list of this entry comes: it goes to the same place. */
export function wantPlaceAgain(): void {
  isTaken = false;
}

export function isPlaceWanted(): boolean {
  return wanted !== undefined && !isTaken;
}

/** The place to go to, once. */
export function takePlace(): WantedPlace | undefined {
  if (isTaken) return undefined;
  isTaken = true;
  return wanted;
}
