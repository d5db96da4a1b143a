// The state of the current search: the query, the results so far, and whether they are complete. Results of the
// previous search stay until the new one has some or ends.

import { create } from 'zustand';
import { noteOffline, useConnection } from '../data/connection.ts';
import { BASE_PATH } from '../data/base-path.ts';
import { checkSession, noteExpired, onSignedIn } from '../data/session.ts';
import { setCards, useCards } from './cards.ts';
import { keepSearch, keptSearch } from './search-cache.ts';
import type { FromWorker, Outcome, Progress, Search, SearchFailure } from './messages.ts';
import type { Unnarrowed } from './narrowing.ts';
import { addFiles, countBetter, sortFiles, type SortOrder, waterLine } from './order.ts';
import type { ResultFile } from './rows.ts';
import { hear, post } from './worker-link.ts';

export type SearchState = 'idle' | 'running' | 'done' | 'stopped' | 'failed';

interface SearchView {
  readonly state: SearchState;
  /** The search that `files` belong to. It differs from `submitted` until the first results arrive. */
  readonly displayed: Search | undefined;
  readonly submitted: Search | undefined;
  readonly isPreview: boolean;
  /** Increases with each list that replaces the previous one. */
  readonly viewId: number;
  /** Sorted by `sort`, except for files that the user has already seen. */
  readonly files: readonly ResultFile[];
  readonly sort: SortOrder;
  /** Number of late files that sort before a file that was already seen. */
  readonly betterCount: number;
  readonly matchCount: number;
  readonly progress: Progress | undefined;
  readonly outcome: Outcome | undefined;
  readonly failure: SearchFailure | undefined;
  /** ms from the start to the first results, and to the end. */
  readonly firstMs: number | undefined;
  readonly allMs: number | undefined;
  /** The last answer without filters. */
  readonly before: Unnarrowed | undefined;
  readonly start: (search: Search, isPreview?: boolean) => void;
  /** Searches again, for more or missing results; current ones stay. */
  readonly extend: (search: Search) => void;
  /**
   * Starts a search, unless its results are already on display: a complete preview stays as it is, and a search for
   * more matches adds to the current list.
   *
   * @param wasHere  true after back or forward: the results may be in memory
   */
  readonly startSearch: (search: Search, wasHere?: boolean) => void;
  readonly setSort: (sort: SortOrder) => void;
  /** Sorts all files, including those already seen. */
  readonly sortAnew: () => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** ms without previews after the daemon was overloaded. */
const PREVIEW_REST_MS = 60_000;
const BUSY_TRIES_MAX = 3;
/** In a chosen order, the first files wait until all have arrived, or for this many ms. */
const ORDER_WAIT_MS = 500;

let lastId = 0;
let startedAt = 0;
/** Results since the last frame, and the keys of all results. */
let waiting: ResultFile[] = [];
let arrived = new Set<string>();
let frame = 0;
/** Does the answer extend the current list? */
let isExtending = false;
/** Files that were in or near the window. */
let seen = new Set<string>();
let previewRestUntil = 0;
let busyTries = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;

/** Is the current list complete? True also while a new search runs that has no results yet. */
export function hasAllCome({ state, displayed, submitted, outcome }: SearchView): boolean {
  return outcome !== undefined && (state === 'done' || displayed !== submitted);
}

/** Called when a file is in or near the window: from now on it does not move. */
export function noteSeen(key: string): void {
  seen.add(key);
}

function countMatches(files: readonly ResultFile[]): number {
  return files.reduce((sum, file) => sum + file.matchCount, 0);
}

/** The initial state of a list that replaces the previous one. */
function newView(): Pick<
  SearchView,
  'viewId' | 'files' | 'betterCount' | 'matchCount' | 'outcome'
> {
  seen = new Set();
  setCards(new Map());
  const viewId = useSearch.getState().viewId + 1;
  return { viewId, files: [], betterCount: 0, matchCount: 0, outcome: undefined };
}

/** Painted files do not move, so a list sorted by name waits for files that may come before them. */
function paintSoon(): void {
  const { displayed, submitted, sort } = useSearch.getState();
  const isEarly = performance.now() < startedAt + ORDER_WAIT_MS;
  if (sort !== 'score' && displayed !== submitted && isEarly)
    frame = requestAnimationFrame(paintSoon);
  else paint();
}

/** Displays the results since the last frame. The first results of a search replace the previous list. */
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

/** Removes files below the water line that the new answer does not contain. */
function withoutOld(files: readonly ResultFile[]): readonly ResultFile[] {
  const line = waterLine(files, seen);
  return files.filter((file, index) => index < line || arrived.has(file.key));
}

/** Is it the same search except for the number of matches? */
function isSameBut(search: Search | undefined, other: Search): search is Search {
  if (search === undefined) return false;
  return JSON.stringify({ ...search, matches: other.matches }) === JSON.stringify(other);
}

/** Keeps an answer while filters are applied to it. */
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
    // A preview is not an answer to the search of the address.
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

/** Repeats the search; its results so far stay. */
function searchAgain(): void {
  const { submitted, isPreview } = useSearch.getState();
  if (submitted !== undefined && !isPreview) begin(submitted, false, true);
}

function take(message: FromWorker): void {
  if (message.type === 'files' && message.id === lastId) {
    waiting.push(...message.files);
    for (const { key } of message.files) arrived.add(key);
    const { displayed, submitted, sort } = useSearch.getState();
    // Paints the first results in the next frame instead of the one after.
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

/** Stores the current list for back and forward, if its search has ended. */
function keepDisplayed(): void {
  const { state, displayed, submitted, isPreview, files, sort, outcome, firstMs, allMs } =
    useSearch.getState();
  if (displayed === undefined || displayed !== submitted || isPreview) return;
  if (state !== 'done' && state !== 'stopped') return;
  const { cards } = useCards.getState();
  keepSearch({ search: displayed, state, files, sort, seen, cards, outcome, firstMs, allMs });
}

/** Cancels the running search. */
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
  // Results of a different search are replaced.
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
  if (!isPreview) checkSession();
}

/** Restores the results from memory. @returns  false: not in memory */
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

/** Ends the running search. A search without results so far leaves an empty list. */
function stop(): void {
  if (useSearch.getState().state !== 'running') return;
  paint();
  drop();
  const { displayed, submitted } = useSearch.getState();
  useSearch.setState({
    ...(displayed === submitted ? {} : newView()),
    state: 'stopped',
    displayed: submitted,
    outcome: undefined,
    allMs: performance.now() - startedAt,
  });
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
  stop,
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
// Repeats a search that failed because the daemon was unreachable, and one that a guest may have sent.
useConnection.subscribe(({ state }, before) => {
  if (
    state === 'back' &&
    before.state !== 'back' &&
    useSearch.getState().failure?.errorCode === 'OFFLINE' &&
    // Bound: it may be this search alone that is refused, or that ends the daemon.
    busyTries++ < BUSY_TRIES_MAX
  )
    searchAgain();
});
onSignedIn(() => {
  if (useSearch.getState().state !== 'stopped') searchAgain();
});
