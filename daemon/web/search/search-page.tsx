// The results page: runs the search of the address; summary, filters, list and preview.

import { lazy, Suspense, useDeferredValue, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { setParameter, useParameters } from '../data/parameters.ts';
import { useRemembered } from '../data/remembered.ts';
import { useKey } from '../parts/keys.ts';
import { Notice } from '../parts/notice.tsx';
import { SHARE_OF_SECOND, Separator } from '../parts/separator.tsx';
import { useTitle } from '../parts/title.ts';
import { useIsNarrow } from '../parts/window-width.ts';
import { MATCHES_MAX, parametersOf, searchOf } from './address.ts';
import { FilterPanel } from './filter-panel.tsx';
import { useFacetChoice } from './facet-choice.ts';
import { FACETS, narrow } from './facet-values.ts';
import type { Search } from './messages.ts';
import { isSortOrder } from './order.ts';
import { visitEntry, wantPositionAgain } from './list-position.ts';
import { previewName } from './result-address.ts';
import { narrowed } from './narrowing.ts';
import { Plan } from './plan-button.tsx';
import { ResultList } from './result-list.tsx';
import type { Focused } from './result-keys.ts';
import type { ResultFile } from './rows.ts';
import { hasAllCome, useSearch } from './search-store.ts';
import { Summary } from './summary.tsx';
import { Toolbar } from './toolbar.tsx';

const PreviewPanel = lazy(() => import('./preview-panel.tsx'));

const PREVIEW_SHARE = { min: 25, max: 70, initial: 45 };

/** Displays the search of the address: from memory if the page was here before, else by searching. */
function useSearchOfPage(search: Search | undefined): void {
  const key = JSON.stringify(search);
  useEffect(() => {
    const { startSearch, clear, viewId } = useSearch.getState();
    const wasHere = visitEntry();
    if (search === undefined) clear();
    else startSearch(search, wasHere);
    // Has a new list appeared, or is one about to?
    const now = useSearch.getState();
    if (now.viewId !== viewId || now.displayed !== now.submitted) wantPositionAgain();
    // `search` is a new object in each render; `key` identifies it.
  }, [key]);
}

/** @param requested  undefined: closes the preview */
function showPreview(requested: string | undefined): void {
  setParameter('preview', requested, { replace: true });
}

/** The file in the preview; undefined: none, or it is not among the results. */
function usePreview(files: readonly ResultFile[]) {
  const parameters = useParameters();
  const name = parameters.get('preview');
  const focused = useRef<Focused>(undefined);
  const file = name === null ? undefined : files.find((one) => previewName(one) === name);
  const follow = (now: Focused): void => {
    focused.current = now;
    if (name !== null && previewName(now.file) !== name) showPreview(previewName(now.file));
  };
  const close = (): void => {
    showPreview(undefined);
    focused.current?.element.focus();
  };
  useKey('preview', () => {
    const requested = focused.current?.file ?? files[0];
    if (name === null && requested === undefined) return false;
    if (name !== null) close();
    else if (requested !== undefined) showPreview(previewName(requested));
    return true;
  });
  return { file, follow, close, line: focused.current?.line };
}

/** Filters beside the results, or above them in a narrow window. */
function useFilters() {
  const isNarrow = useIsNarrow();
  const areFiltersVisible = useRemembered((state) => state.areFiltersDisplayed);
  const drawer = useRef<HTMLDialogElement>(null);
  const toggle = (): void => {
    if (!isNarrow) useRemembered.getState().set({ areFiltersDisplayed: !areFiltersVisible });
    else if (drawer.current?.open === true) drawer.current.close();
    else drawer.current?.showModal();
  };
  useKey('filters', toggle);
  return { isNarrow, areFiltersVisible, drawer, toggleFilters: toggle };
}

interface PreviewBesideProps {
  readonly file: ResultFile;
  readonly line: number | undefined;
  readonly close: () => void;
  readonly isNarrow: boolean;
}

function PreviewBeside({ isNarrow, ...rest }: PreviewBesideProps) {
  const share = useRemembered((state) => state.previewShare);
  return (
    <>
      <Separator
        label="Width of the preview"
        value={share}
        {...PREVIEW_SHARE}
        {...SHARE_OF_SECOND}
        onChange={(previewShare) => useRemembered.getState().set({ previewShare })}
      />
      <aside
        className="preview"
        aria-label="Preview"
        style={isNarrow ? undefined : { flexBasis: `${share}%` }}
      >
        <Suspense fallback={null}>
          <PreviewPanel key={rest.file.key} {...rest} />
        </Suspense>
      </aside>
    </>
  );
}

/**
 * Are there results to act on? No if there is no query, or if the search ended without results. While it runs, the
 * space is kept.
 */
function useHasResults(search: Search | undefined): boolean {
  const isOver = useSearch(({ state }) => state !== 'running' && state !== 'idle');
  const isEmpty = useSearch(({ files }) => files.length === 0);
  return search !== undefined && !(isOver && isEmpty);
}

/**
 * The files that the filters count: those of a finished search. Why not of a running one: each new value would push
 * down those below it. Why deferred: results render first.
 */
function useCounted(files: readonly ResultFile[]) {
  const viewId = useSearch((view) => view.viewId);
  const isOver = useSearch(
    ({ state, displayed, submitted }) => state !== 'running' || displayed !== submitted,
  );
  const isExact = useSearch((view) => hasAllCome(view) && view.outcome?.isAll === true);
  const settled = useRef({ viewId, files });
  if (isOver) settled.current = { viewId, files };
  const counted = settled.current.viewId === viewId ? settled.current.files : NO_FILES;
  return { files: useDeferredValue(counted), isExact: useDeferredValue(isExact) };
}

const NO_FILES: readonly ResultFile[] = [];

/** Searches again for twice as many matches; undefined: there may be no more. */
function useLoadMore(search: Search | undefined, parameters: URLSearchParams) {
  const [, navigate] = useLocation();
  if (search === undefined || search.matches >= MATCHES_MAX) return undefined;
  return () => {
    const more = { ...search, matches: Math.min(search.matches * 2, MATCHES_MAX) };
    navigate(`/search?${parametersOf(more, parameters).toString()}`, { replace: true });
  };
}

export function SearchPage() {
  const parameters = useParameters();
  const contextLines = useRemembered((state) => state.contextLines);
  const choice = useFacetChoice();
  const before = useSearch((state) => state.before);
  const requested = searchOf(parameters, contextLines);
  const search = requested === undefined ? undefined : narrowed(requested, choice.chosen, before);
  useTitle(search?.query ?? 'Search');
  useSearchOfPage(search);
  const sort = parameters.get('sort');
  const setSort = useSearch((state) => state.setSort);
  useEffect(() => setSort(isSortOrder(sort) ? sort : 'score'), [sort, setSort]);
  const files = useSearch((state) => state.files);
  const counted = useCounted(files);
  const displayed = narrow(files, choice.chosen);
  const { toggleFilters, ...filterState } = useFilters();
  const preview = usePreview(displayed);
  const loadMore = useLoadMore(search, parameters);
  const hasResults = useHasResults(search);
  const isFiltered = FACETS.some((facet) => choice.chosen[facet].size > 0);
  const areFiltersDisplayed = filterState.areFiltersVisible && (hasResults || isFiltered);
  return (
    <div
      className={areFiltersDisplayed && !filterState.isNarrow ? 'search with-filters' : 'search'}
    >
      <h1 className="visually-hidden">Results</h1>
      <FilterPanel
        {...counted}
        choice={choice}
        {...filterState}
        areFiltersVisible={areFiltersDisplayed}
      />
      <div className="results">
        <div className="summary">
          <Summary
            loadMore={loadMore}
            nextMatches={Math.min((search?.matches ?? 0) * 2, MATCHES_MAX)}
            visibleFiles={displayed.length}
          />
          <Toolbar
            chosen={choice.chosen}
            hasResults={hasResults}
            areFiltersOpen={areFiltersDisplayed && !filterState.isNarrow}
            toggleFilters={toggleFilters}
          />
        </div>
        <Plan />
        {search === undefined && (
          <Notice kind="info" title="No query yet.">
            Enter a query above, or <Link href="/">start with an example</Link>.
          </Notice>
        )}
        <div className="result-panels">
          <ResultList files={displayed} loadedCount={files.length} onFocus={preview.follow} />
          {preview.file !== undefined && (
            <PreviewBeside
              file={preview.file}
              line={preview.line}
              close={preview.close}
              isNarrow={filterState.isNarrow}
            />
          )}
        </div>
      </div>
    </div>
  );
}
