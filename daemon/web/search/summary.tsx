// One line above the results: how many, and in plain words whether that is all. Same place and height in every state.

import { CircleAlert, TriangleAlert } from 'lucide-react';
import { useSearch } from './search-store.ts';
import { count, counted, milliseconds } from '../parts/words.ts';
import { failureWords, isLimited, lossOf } from './words.ts';

interface SummaryProps {
  /** Asks for more matches; undefined: no more can be asked for. */
  readonly loadMore: (() => void) | undefined;
  readonly nextMatches: number;
}

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

function Ended({ loadMore, nextMatches }: SummaryProps) {
  const { outcome, matchCount, files, state, isPreview } = useSearch();
  const where = `in ${counted(files.length, 'file')} of ${counted(
    new Set(files.map((file) => file.repositoryId)).size,
    'repository',
    'repositories',
  )}`;
  if (state === 'stopped')
    return (
      <span>
        {counted(matchCount, 'match', 'matches')} so far {where} · you stopped the search
      </span>
    );
  if (outcome === undefined) return null;
  const loss = lossOf(outcome);
  if (isLimited(outcome))
    return (
      <>
        <span>
          First {counted(matchCount, 'match', 'matches')} {where}
          {isPreview
            ? ' · press return for all'
            : ` · there are at least ${count(outcome.totalMatches)}`}
        </span>
        {loadMore !== undefined && !isPreview && (
          <button type="button" className="button" onClick={loadMore}>
            Show {count(nextMatches)}
          </button>
        )}
      </>
    );
  if (loss !== undefined)
    return (
      <span>
        {counted(matchCount, 'match', 'matches')} {where} ·{' '}
        <TriangleAlert
          size={16}
          strokeWidth={1.5}
          className="inline-icon warn"
          aria-label="Not all:"
        />{' '}
        {loss}
      </span>
    );
  if (matchCount === 0)
    return (
      <span>
        No matches in {counted(Number(outcome.stats['shardFilesConsidered'] ?? 0), 'file')} · that
        is all
      </span>
    );
  return (
    <span>
      {counted(matchCount, 'match', 'matches')} {where} · that is all
    </span>
  );
}

export function Summary(props: SummaryProps) {
  const { state, shown, asked, matchCount, files, failure, stop } = useSearch();
  const isWaiting = state === 'running' && shown !== asked;
  return (
    <div className="summary" id="search-summary">
      <div className="summary-text" role="status" aria-atomic="true">
        {state === 'failed' && failure !== undefined && (
          <span className="danger">
            <CircleAlert size={16} strokeWidth={1.5} className="inline-icon" aria-hidden />{' '}
            {failureWords(failure)}
          </span>
        )}
        {state === 'running' && !isWaiting && (
          <span aria-hidden>
            {counted(matchCount, 'match', 'matches')} so far in {counted(files.length, 'file')}
          </span>
        )}
        {isWaiting && <span className="faint">Searching</span>}
        {(state === 'done' || state === 'stopped') && <Ended {...props} />}
      </div>
      <Times />
      {state === 'running' && (
        <button type="button" className="button" onClick={stop}>
          Stop
        </button>
      )}
    </div>
  );
}
