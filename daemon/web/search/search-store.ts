// The search that the page shows: what was asked, what has come, whether that is all. Results of the search before stay until
// the new one has some, or is over.

import { create } from 'zustand';
import { noteOffline, useConnection } from '../data/connection.ts';
import { BASE_PATH } from '../data/base-path.ts';
import { noteExpired, onSignedIn } from '../data/session.ts';
import { setCards, useCards } from './cards.ts';
import { keepSearch, keptSearch } from './memory.ts';
import type { FromWorker, Outcome, Progress, Search, SearchFailure } from './messages.ts';
import { addFiles, countBetter, sortFiles, waterLine } from './order.ts';
import type { SortOrder } from './order.ts';
import type { ResultFile } from './rows.ts';
import { hear, post } from './worker-link.ts';

export type SearchState = 'idle' | 'running' | 'done' | 'stopped' | 'failed';

/** An answer that the daemon did not narrow to what is chosen of the filters. */
export interface Unnarrowed {
  readonly search: Search;
  readonly files: readonly ResultFile[];
  readonly isAll: boolean;
}

interface SearchView {
  readonly state: SearchState;
  /** What `files` are of; another than what runs while nothing of that has come. */
  readonly displayed: Search | undefined;
  readonly submitted: Search | undefined;
  readonly isPreview: boolean;
  /** Goes up with each list that has nothing to do with the one before. */
  readonly viewId: number;
  /** In the order of `sort`, as far as nobody had looked at them. */
  readonly files: readonly ResultFile[];
  readonly sort: SortOrder;
  /** Files that came late and would come before one that was looked at. */
  readonly betterCount: number;
  readonly matchCount: number;
  readonly progress: Progress | undefined;
  readonly outcome: Outcome | undefined;
  readonly failure: SearchFailure | undefined;
  /** ms from the start to the first results, and to the end. */
  readonly firstMs: number | undefined;
  readonly allMs: number | undefined;
  /** The last answer that was not narrowed. */
  readonly before: Unnarrowed | undefined;
  readonly start: (search: Search, isPreview?: boolean) => void;
  /** Searches again, for more or for what is missing; what is shown stays. */
  readonly extend: (search: Search) => void;
  /**
   * Shows what is asked for, unless it is there already: an answer to what was typed that was all stands as it is; more of
   * what is shown is added to it.
   *
   * @param wasHere  its results may be in memory, as the browser has come back to it
   */
  readonly startSearch: (search: Search, wasHere?: boolean) => void;
  readonly setSort: (sort: SortOrder) => void;
  /** Puts all files in their order, whatever was looked at. */
  readonly sortAnew: () => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** After a refusal for want of room nothing is asked for while typing, in ms. */
const PREVIEW_REST_MS = 60_000;
const BUSY_TRIES_MAX = 3;
/** In an order that was chosen the first files are shown when all have come, or after this, in ms. */
const ORDER_WAIT_MS = 500;

let lastId = 0;
let startedAt = 0;
/** Results that came since the last frame, and the keys of all that came. */
let waiting: ResultFile[] = [];
let arrived = new Set<string>();
let frame = 0;
/** Does what is shown stay, so that the answer is added to it? */
let isExtending = false;
/** Files that were in or near the window. */
let seen = new Set<string>();
let previewRestUntil = 0;
let busyTries = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;

/** Has all come that is shown? So it is, too, while another search runs of which nothing has come. */
export function hasAllCome({ state, displayed, submitted, outcome }: SearchView): boolean {
  return outcome !== undefined && (state === 'done' || displayed !== submitted);
}

/** A file is in or near the window: from now on it stays where it is. */
export function noteSeen(key: string): void {
  seen.add(key);
}

function countMatches(files: readonly ResultFile[]): number {
  return files.reduce((sum, file) => sum + file.matchCount, 0);
}

/** What a list that replaces the one before begins with. */
function newView(): Pick<
  SearchView,
  'viewId' | 'files' | 'betterCount' | 'matchCount' | 'outcome'
> {
  seen = new Set();
  setCards(new Map());
  const viewId = useSearch.getState().viewId + 1;
  return { viewId, files: [], betterCount: 0, matchCount: 0, outcome: undefined };
}

/** What has been painted stays where it is, so that a list by name waits for what may come before it. */
function paintSoon(): void {
  const { displayed, submitted, sort } = useSearch.getState();
  const isEarly = performance.now() < startedAt + ORDER_WAIT_MS;
  if (sort !== 'score' && displayed !== submitted && isEarly)
    frame = requestAnimationFrame(paintSoon);
  else paint();
}

/** Puts what has come since the last frame onto the page: the first results of a search replace those of the one before. */
function paint(): void {
  cancelAnimationFrame(frame);
  frame = 0;
  const { displayed, submitted, sort, firstMs } = useSearch.getState();
  if (waiting.length === 0) return;
  const isFirst = displayed !== submitted && !isExtending;
  const view = isFirst ? newView() : {};
  const before = isFirst ? [] : useSearch.getState().files;
  const files = addFiles(before, waiting, seen, sort);
  waiting = [];
  useSearch.setState({
    ...view,
    displayed: submitted,
    files,
    betterCount: countBetter(files, seen, sort),
    matchCount: countMatches(files),
    firstMs: firstMs ?? performance.now() - startedAt,
  });
}

/** Below the water line files that the new answer does not have go. */
function withoutOld(files: readonly ResultFile[]): readonly ResultFile[] {
  const line = waterLine(files, seen);
  return files.filter((file, index) => index < line || arrived.has(file.key));
}

/** Is it the same search but for how many matches it asks for? */
function isSameBut(search: Search | undefined, other: Search): search is Search {
  if (search === undefined) return false;
  return JSON.stringify({ ...search, matches: other.matches }) === JSON.stringify(other);
}

/** Keeps an answer for the time that it is narrowed. */
function unnarrowed(
  search: Search | undefined,
  files: readonly ResultFile[],
  outcome: Outcome | undefined,
): Pick<SearchView, 'before'> | undefined {
  if (search === undefined || search.filter !== undefined || outcome === undefined)
    return undefined;
  return { before: { search, files, isAll: outcome.isAll } };
}

function finish(outcome: Outcome): void {
  const { displayed, submitted, files, sort, isPreview } = useSearch.getState();
  const isEmpty = displayed !== submitted && !isExtending;
  const newFiles = isExtending ? withoutOld(files) : files;
  useSearch.setState({
    state: 'done',
    displayed: submitted,
    files: newFiles,
    betterCount: countBetter(newFiles, seen, sort),
    matchCount: countMatches(newFiles),
    ...(isEmpty ? newView() : {}),
    outcome,
    // What is typed says nothing of the search of the address.
    ...(isPreview ? {} : unnarrowed(submitted, isEmpty ? [] : newFiles, outcome)),
    allMs: performance.now() - startedAt,
  });
}

function fail(failure: SearchFailure): void {
  const { isPreview } = useSearch.getState();
  const isBusy = failure.errorCode === 'SERVER_OVERLOADED';
  const isTriedAgain = isBusy && !isPreview && busyTries < BUSY_TRIES_MAX;
  const retryAfter = isTriedAgain ? (failure.retryAfter ?? 1) : undefined;
  const allMs = performance.now() - startedAt;
  useSearch.setState({ state: 'failed', failure: { ...failure, retryAfter }, allMs });
  if (failure.errorCode === 'OFFLINE') noteOffline();
  if (failure.statusCode === 401) noteExpired();
  if (isBusy) previewRestUntil = performance.now() + PREVIEW_REST_MS;
  if (retryAfter === undefined) return;
  busyTries++;
  retryTimer = setTimeout(searchAgain, retryAfter * 1000);
}

/** The search that did not come to its end; what there is of it stays. */
function searchAgain(): void {
  const { state, submitted, isPreview } = useSearch.getState();
  if (state === 'failed' && submitted !== undefined && !isPreview) begin(submitted, false, true);
}

function take(message: FromWorker): void {
  if (message.type === 'files' && message.id === lastId) {
    waiting.push(...message.files);
    for (const { key } of message.files) arrived.add(key);
    const { displayed, submitted, sort } = useSearch.getState();
    // The first are drawn for the next frame rather than the one behind it.
    if (displayed !== submitted && sort === 'score') paint();
    else frame ||= requestAnimationFrame(paintSoon);
  }
  if (message.type === 'progress' && message.id === lastId)
    useSearch.setState({ progress: message.progress });
  if ((message.type !== 'end' && message.type !== 'failed') || message.id !== lastId) return;
  paint();
  if (message.type === 'end') finish(message.outcome);
  else fail(message.failure);
}

/** Keeps what is shown for the way back, if it is a search that came to its end. */
function keepDisplayed(): void {
  const { state, displayed, submitted, isPreview, files, sort, outcome, firstMs, allMs } =
    useSearch.getState();
  if (displayed === undefined || displayed !== submitted || isPreview) return;
  if (state !== 'done' && state !== 'stopped') return;
  const { cards } = useCards.getState();
  keepSearch({ search: displayed, state, files, sort, seen, cards, outcome, firstMs, allMs });
}

/** Forgets what runs. */
function drop(): void {
  if (useSearch.getState().state === 'running') post({ type: 'stop', id: lastId });
  clearTimeout(retryTimer);
  waiting = [];
  arrived = new Set();
  lastId++;
}

function begin(search: Search, isPreview: boolean, extending: boolean): void {
  drop();
  startedAt = performance.now();
  const { displayed, submitted } = useSearch.getState();
  // What is of another search is replaced.
  isExtending = extending && displayed === submitted;
  useSearch.setState({
    state: 'running',
    submitted: search,
    ...(isExtending ? { displayed: search } : {}),
    isPreview,
    progress: undefined,
    failure: undefined,
    firstMs: undefined,
    allMs: undefined,
  });
  post({ type: 'start', id: lastId, search, base: BASE_PATH, isPreview });
}

/** Takes the results from memory; false: they are not there. */
function restore(search: Search): boolean {
  const kept = keptSearch(search);
  if (kept === undefined) return false;
  keepDisplayed();
  drop();
  const { cards, seen: wasSeen, search: displayed, ...rest } = kept;
  const { viewId } = newView();
  seen = new Set(wasSeen);
  setCards(cards);
  useSearch.setState({
    ...rest,
    ...unnarrowed(displayed, kept.files, kept.outcome),
    displayed,
    submitted: displayed,
    isPreview: false,
    failure: undefined,
    viewId,
    betterCount: countBetter(kept.files, seen, kept.sort),
    matchCount: countMatches(kept.files),
  });
  return true;
}

export const useSearch = create<SearchView>()((set, get) => ({
  state: 'idle',
  displayed: undefined,
  submitted: undefined,
  isPreview: false,
  viewId: 0,
  files: [],
  sort: 'score',
  betterCount: 0,
  matchCount: 0,
  progress: undefined,
  outcome: undefined,
  failure: undefined,
  firstMs: undefined,
  allMs: undefined,
  before: undefined,
  start: (search, isPreview = false) => {
    if (isPreview && performance.now() < previewRestUntil) return;
    keepDisplayed();
    busyTries = 0;
    begin(search, isPreview, false);
  },
  extend: (search) => {
    busyTries = 0;
    begin(search, false, true);
  },
  startSearch: (search, wasHere = false) => {
    const { state, submitted, displayed, isPreview, outcome, start, extend } = get();
    const isSame = isSameBut(submitted, search) && state !== 'failed';
    const isWhole = isPreview && state === 'done' && outcome?.isAll === true;
    if (isSame && isWhole) set({ isPreview: false, submitted: search, displayed: search });
    else if (isSame && !isPreview && submitted.matches === search.matches) return;
    else if (wasHere && restore(search)) return;
    else if (!isPreview && isSameBut(displayed, search) && search.matches > displayed.matches)
      extend(search);
    else start(search);
  },
  setSort: (sort) => {
    if (sort === get().sort) return;
    seen = new Set();
    set({ sort, files: sortFiles(get().files, sort), betterCount: 0 });
  },
  sortAnew: () => {
    const { files, sort, viewId } = get();
    seen = new Set();
    set({ files: sortFiles(files, sort), betterCount: 0, viewId: viewId + 1 });
  },
  stop: () => {
    if (get().state !== 'running') return;
    paint();
    drop();
    set({ state: 'stopped', outcome: undefined, allMs: performance.now() - startedAt });
  },
  clear: () => {
    keepDisplayed();
    drop();
    set({
      ...newView(),
      state: 'idle',
      displayed: undefined,
      submitted: undefined,
      failure: undefined,
    });
  },
}));

hear(take);
// What broke off because nobody answered, or the session ended, goes on by itself.
useConnection.subscribe(({ state }, before) => {
  if (
    state === 'back' &&
    before.state !== 'back' &&
    useSearch.getState().failure?.errorCode === 'OFFLINE'
  )
    searchAgain();
});
onSignedIn(() => {
  if (useSearch.getState().failure?.statusCode === 401) searchAgain();
});
