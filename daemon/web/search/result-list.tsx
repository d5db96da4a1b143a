// The list of files with matches. Only what is near the window is in the page; a file has its final height from the first
// paint, so that nothing moves while others come in.

import { useRef } from 'react';
import { Virtualizer } from 'virtua';
import { ResultCard } from './result-card.tsx';
import type { ResultFile } from './rows.ts';
import { useSearch } from './search-store.ts';

interface ResultListProps {
  readonly files: readonly ResultFile[];
  /** Before they were narrowed. */
  readonly loadedCount: number;
}

/** px drawn above and below the window. */
const BUFFER_SIZE = 600;

export function ResultList({ files, loadedCount }: ResultListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { state, shown, asked } = useSearch();
  const isOld = shown !== asked && state === 'running';
  return (
    <div
      ref={scroller}
      className={isOld ? 'result-scroller results-old' : 'result-scroller'}
      tabIndex={0}
      role="feed"
      aria-label="Results"
      aria-busy={state === 'running'}
    >
      {files.length === 0 && loadedCount > 0 && (
        <p className="empty">All {loadedCount} loaded files are filtered out.</p>
      )}
      {files.length === 0 && loadedCount === 0 && state === 'done' && <Nothing />}
      <Virtualizer scrollRef={scroller} bufferSize={BUFFER_SIZE}>
        {files.map((file, index) => (
          <ResultCard
            key={file.key}
            file={file}
            place={index + 1}
            total={state === 'done' ? files.length : -1}
          />
        ))}
      </Virtualizer>
    </div>
  );
}

/** Where there is nothing: what the query may have meant. */
function Nothing() {
  const hints = useSearch((state) => state.outcome?.hints ?? []);
  return (
    <div className="empty">
      <p>No matches.</p>
      {hints.length > 0 && (
        <ul>
          {hints.map(({ message, query }) => (
            <li key={message}>
              {message} {query !== undefined && <code>{query}</code>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
