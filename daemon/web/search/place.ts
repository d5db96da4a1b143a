// Where one is in the results: kept in the entry of the browser's history, so that back, forward and reload find it again.

/** How far the list is scrolled, in px, and what has the focus. */
export interface ResultPlace {
  readonly offset: number;
  readonly key: string | undefined;
  /** 0: the head of the file. */
  readonly line: number;
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

/** The state of an entry that is made: it is visited from the first. */
export const NEW_ENTRY: EntryState = { results: TOP };

/** Marks this entry of the history as visited. */
export function visitEntry(): void {
  keepPlace(TOP);
}

/** Of this entry of the history; undefined: it is visited for the first time. */
export function placeOfEntry(): ResultPlace | undefined {
  return entryState().results;
}

let wanted: ResultPlace | undefined;
/** Of the entry that the browser comes back to right now. */
let returned: ResultPlace | undefined;

/** A list that is drawn at once, as its results are still there, is drawn before anybody wants a place for it. */
addEventListener('popstate', () => {
  returned = placeOfEntry();
  setTimeout(() => {
    returned = undefined;
  });
});

/** Where the list is now; no other place is wanted any more. */
export function keepPlace(place: ResultPlace): void {
  wanted = undefined;
  history.replaceState({ ...entryState(), results: place }, '');
}

/** The list that comes next goes to this place. */
export function wantPlace(place: ResultPlace | undefined): void {
  wanted = place;
}

/** At its top a list is from the first: to go there would cost a layout. */
function wantedNow(): ResultPlace | undefined {
  const place = wanted ?? returned;
  return place?.offset === 0 && place.key === undefined ? undefined : place;
}

export function isPlaceWanted(): boolean {
  return wantedNow() !== undefined;
}

/** What was wanted, once. */
export function takePlace(): ResultPlace | undefined {
  const place = wantedNow();
  wanted = undefined;
  returned = undefined;
  return place;
}
