// The line above the results: counts, and whether they are complete. It has the same place and height in every state.
// Screen readers announce the count once at the end, and every few seconds of a long search.

import { CircleAlert, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { signInAddress } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { useIsLate } from '../parts/late.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { count, counted, milliseconds } from '../parts/number-format.ts';
import type { Outcome } from './messages.ts';
import type { ResultFile } from './rows.ts';
import { useSearch } from './search-store.ts';
import { failureWords, hasUnsearched, isLimited, lossesOf } from './summary-text.ts';

export interface SummaryProps {
  /** Loads more matches; undefined: the limit is reached. */
  readonly loadMore: (() => void) | undefined;
  readonly nextMatches: number;
  /** Number of files after filtering. */
  readonly visibleFiles: number;
}

/** ms between updates on screen, and between announcements. */
const COUNT_MS = 100;
const SAID_MS = 5000;

const ICON = { size: 16, strokeWidth: 1.5 } as const;

function Times() {
  const firstMs = useSearch((state) => state.firstMs);
  const allMs = useSearch((state) => state.allMs);
  if (firstMs === undefined && allMs === undefined) return null;
  return (
    <span className="summary-times">
      {firstMs !== undefined && `first ${milliseconds(firstMs)}`}
      {firstMs !== undefined && allMs !== undefined && ', '}
      {allMs !== undefined && `all ${milliseconds(allMs)}`}
    </span>
  );
}

function inFiles(files: readonly ResultFile[]): string {
  return `in ${counted(files.length, 'file')}`;
}

function inRepositories(files: readonly ResultFile[]): string {
  const repositories = new Set(files.map((file) => file.repositoryId)).size;
  return `${inFiles(files)} of ${counted(repositories, 'repository', 'repositories')}`;
}

/** Repeats the search; current results stay. */
function again(): void {
  const { submitted, extend } = useSearch.getState();
  if (submitted !== undefined) extend(submitted);
}

interface ActionProps {
  readonly label: string;
  readonly run: () => void;
}

function Action({ label, run }: ActionProps) {
  return (
    <button type="button" className="button summary-button" onClick={run}>
      {label}
    </button>
  );
}

/** What is missing apart from a match limit, a sentence each, and the action for the first. */
function Losses({ outcome }: { readonly outcome: Outcome }) {
  const { data: account } = useAccount();
  const losses = lossesOf(outcome);
  const [first] = losses;
  if (first === undefined) return null;
  const sentences = losses.map(({ text }) => text).join(' ');
  const isForHealth = first.step === 'health' && account?.user?.role === 'OWNER';
  return (
    <>
      <span className="summary-sentence" title={sentences}>
        · <TriangleAlert {...ICON} className="inline-icon warn" aria-label="Not all:" /> {sentences}
      </span>
      {isForHealth ? (
        <Link href="/settings/health" className="button summary-button">
          Health
        </Link>
      ) : (
        <Action label="Search again" run={again} />
      )}
    </>
  );
}

function Limited({ outcome, loadMore, nextMatches }: SummaryProps & { readonly outcome: Outcome }) {
  const { matchCount, files, isPreview } = useSearch();
  const first = `First ${counted(matchCount, 'match', 'matches')}`;
  if (isPreview) return <span>{first} · press return for all</span>;
  const more =
    outcome.totalMatches > matchCount
      ? `there are at least ${count(outcome.totalMatches)}`
      : 'there may be more';
  return (
    <>
      <span>
        {first} {inFiles(files)} · {more}
      </span>
      {loadMore !== undefined && <Action label={`Show ${count(nextMatches)}`} run={loadMore} />}
    </>
  );
}

function Ended(props: SummaryProps) {
  const { outcome, matchCount, files, state } = useSearch();
  const matches = counted(matchCount, 'match', 'matches');
  const filtered =
    props.visibleFiles === files.length
      ? ''
      : ` · ${counted(props.visibleFiles, 'file')} after filtering`;
  if (state === 'stopped')
    return (
      <>
        <span>
          {matches} so far {inFiles(files)} · you stopped the search{filtered}
        </span>
        <Action label="Continue" run={again} />
      </>
    );
  if (outcome === undefined) return null;
  const considered = counted(Number(outcome.stats['shardFilesConsidered'] ?? 0), 'file');
  return (
    <>
      {isLimited(outcome) ? (
        <Limited {...props} outcome={outcome} />
      ) : (
        <span>
          {matchCount === 0 ? `No matches in ${considered}` : `${matches} ${inRepositories(files)}`}
          {outcome.isAll && !hasUnsearched(outcome) && ' · that is all'}
          {filtered}
        </span>
      )}
      <Losses outcome={outcome} />
    </>
  );
}

/** Better files that arrived late stay below the ones already seen until the user sorts again. */
function Better() {
  const betterCount = useSearch((state) => state.betterCount);
  const sort = useSearch((state) => state.sort);
  const sortAnew = useSearch((state) => state.sortAnew);
  if (betterCount === 0) return null;
  const kind = sort === 'score' ? 'better file' : 'earlier file';
  return (
    <>
      <span className="summary-better">· {counted(betterCount, kind)}</span>
      <Action label="Show" run={sortAnew} />
    </>
  );
}

/** A value that changes slowly enough to read. @param first  value during the first pause; absent: the value itself */
function useSlowly(value: number, pauseMs: number, first?: number): number {
  const [displayed, setDisplayed] = useState(() =>
    first === undefined ? { value, at: 0 } : { value: first, at: performance.now() },
  );
  useEffect(() => {
    const wait = Math.max(0, displayed.at + pauseMs - performance.now());
    const timer = setTimeout(() => setDisplayed({ value, at: performance.now() }), wait);
    return () => clearTimeout(timer);
  }, [value, pauseMs, displayed.at]);
  return displayed.value;
}

function Running() {
  const matchCount = useSlowly(
    useSearch((state) => state.matchCount),
    COUNT_MS,
  );
  const fileCount = useSlowly(
    useSearch((state) => state.files.length),
    COUNT_MS,
  );
  const said = useSlowly(matchCount, SAID_MS, 0);
  const progress = useSearch((state) => state.progress);
  const share =
    progress === undefined || progress.total === 0 ? undefined : progress.done / progress.total;
  return (
    <>
      <span aria-hidden>
        <span className="summary-number">{count(matchCount)}</span>{' '}
        {matchCount === 1 ? 'match' : 'matches'} so far in{' '}
        <span className="summary-number">{count(fileCount)}</span>{' '}
        {fileCount === 1 ? 'file' : 'files'}
      </span>
      <span className="visually-hidden">{said > 0 && `${count(said)} matches so far`}</span>
      {share !== undefined && (
        <span className="summary-progress" aria-hidden>
          <progress value={share} max={1} aria-label="Part of the index searched" />
          {Math.floor(share * 100)} % of the index searched
        </span>
      )}
    </>
  );
}

function Failure() {
  const failure = useSearch((state) => state.failure);
  if (failure === undefined) return null;
  return (
    <>
      <span className="danger summary-sentence" title={visibleName(failureWords(failure))}>
        <CircleAlert {...ICON} className="inline-icon" aria-hidden />{' '}
        <VisibleText text={failureWords(failure)} />
      </span>
      {failure.statusCode === 401 && (
        <Link href={signInAddress()} className="button summary-button">
          Sign in
        </Link>
      )}
      {(failure.statusCode >= 500 || failure.statusCode === 0) && (
        <Action label="Try again" run={again} />
      )}
    </>
  );
}

export function Summary(props: SummaryProps) {
  const { state, displayed, submitted, stop } = useSearch();
  const isOfOther = displayed !== submitted;
  const isWaiting = state === 'running' && isOfOther;
  const isLate = useIsLate(isOfOther);
  return (
    <div className="summary-text" id="search-summary">
      <div className="summary-status" role="status" aria-atomic="true">
        {state === 'failed' && <Failure />}
        {state === 'running' && !isWaiting && <Running />}
        {isWaiting && isLate && <span className="faint">Searching</span>}
        {/* The previous summary stays until there is a new one. */}
        {(state === 'done' || state === 'stopped' || (isWaiting && !isLate)) && (
          <Ended {...props} />
        )}
        {isOfOther && isLate && props.visibleFiles > 0 && (
          <span className="faint">· below: results of the previous search</span>
        )}
        {state !== 'failed' && <Better />}
      </div>
      <Times />
      <button
        type="button"
        className="button summary-button summary-stop"
        onClick={stop}
        disabled={state !== 'running'}
      >
        Stop
      </button>
    </div>
  );
}
