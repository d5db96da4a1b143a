// The search that the page shows: what was asked, what has come, whether that is all. Results of the search before stay until
// the new one has some, or is over.

import { create } from 'zustand';
import { BASE_PATH } from '../data/place.ts';
import type { FromWorker, Outcome, Search, SearchFailure } from './messages.ts';
import type { ResultFile } from './rows.ts';
import { hear, post } from './worker-link.ts';

export type SearchState = 'idle' | 'running' | 'done' | 'stopped' | 'failed';

interface SearchView {
  readonly state: SearchState;
  /** What `files` are of; another than what runs while nothing of that has come. */
  readonly shown: Search | undefined;
  readonly asked: Search | undefined;
  readonly isPreview: boolean;
  readonly files: readonly ResultFile[];
  readonly matchCount: number;
  readonly outcome: Outcome | undefined;
  readonly failure: SearchFailure | undefined;
  /** ms from the start to the first results, and to the end. */
  readonly firstMs: number | undefined;
  readonly allMs: number | undefined;
  readonly start: (search: Search, isPreview?: boolean) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

let lastId = 0;
let startedAt = 0;
/** Results that came since the last frame. */
let waiting: ResultFile[] = [];
let frame = 0;

function countMatches(files: readonly ResultFile[]): number {
  return files.reduce((sum, file) => sum + file.matchCount, 0);
}

/** Puts what has come since the last frame onto the page: the first results of a search replace those of the one before. */
function paint(): void {
  frame = 0;
  const { shown, asked, files, matchCount, firstMs } = useSearch.getState();
  if (waiting.length === 0) return;
  const isFirst = shown !== asked;
  const news = waiting;
  waiting = [];
  useSearch.setState({
    shown: asked,
    files: isFirst ? news : [...files, ...news],
    matchCount: (isFirst ? 0 : matchCount) + countMatches(news),
    ...(isFirst ? { outcome: undefined } : {}),
    firstMs: isFirst || firstMs === undefined ? performance.now() - startedAt : firstMs,
  });
}

function take(message: FromWorker): void {
  if (message.type === 'coloured' || message.id !== lastId) return;
  if (message.type === 'files') {
    waiting.push(...message.files);
    frame ||= requestAnimationFrame(paint);
    return;
  }
  paint();
  const allMs = performance.now() - startedAt;
  if (message.type === 'failed') {
    useSearch.setState({ state: 'failed', failure: message.failure, allMs });
    return;
  }
  const { shown, asked } = useSearch.getState();
  const isEmpty = shown !== asked;
  useSearch.setState({
    state: 'done',
    outcome: message.outcome,
    allMs,
    ...(isEmpty ? { shown: asked, files: [], matchCount: 0 } : {}),
  });
}

export const useSearch = create<SearchView>()((set, get) => ({
  state: 'idle',
  shown: undefined,
  asked: undefined,
  isPreview: false,
  files: [],
  matchCount: 0,
  outcome: undefined,
  failure: undefined,
  firstMs: undefined,
  allMs: undefined,
  start: (search, isPreview = false) => {
    waiting = [];
    lastId++;
    startedAt = performance.now();
    set({
      state: 'running',
      asked: search,
      isPreview,
      failure: undefined,
      firstMs: undefined,
      allMs: undefined,
    });
    post({ type: 'start', id: lastId, search, base: BASE_PATH, isPreview });
  },
  stop: () => {
    if (get().state !== 'running') return;
    post({ type: 'stop', id: lastId });
    paint();
    lastId++;
    set({ state: 'stopped', allMs: performance.now() - startedAt });
  },
  clear: () => {
    if (get().state === 'running') post({ type: 'stop', id: lastId });
    waiting = [];
    lastId++;
    set({
      state: 'idle',
      shown: undefined,
      asked: undefined,
      files: [],
      matchCount: 0,
      outcome: undefined,
    });
  },
}));

hear(take);
