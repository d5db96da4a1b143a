// Where there is nothing to show: what the query may have meant, and what might find more. Nothing was found, nothing is left
// by the filters, or the query could not be read.

import { Link } from 'wouter';
import { useParameters } from '../data/parameters.ts';
import { showOverlay } from '../parts/overlay.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { count } from '../parts/words.ts';
import { parametersOf } from './address.ts';
import { useFacetChoice } from './facet-choice.ts';
import type { Search } from './messages.ts';
import { useSearch } from './search-store.ts';

/** The address of the same search but for what is changed. */
function useChanged(search: Search | undefined): (changed: Partial<Search>) => string {
  const parameters = useParameters();
  return (changed) =>
    search === undefined
      ? ''
      : `/search?${parametersOf({ ...search, ...changed }, parameters).toString()}`;
}

function AsItStands({ search }: { readonly search: Search | undefined }) {
  const addressOf = useChanged(search);
  if (search?.isRegexEnabled !== true) return null;
  return (
    <p>
      <Link href={addressOf({ isRegexEnabled: false })}>Search for the text as it stands</Link>
    </p>
  );
}

function SyntaxGuide() {
  return (
    <p>
      <button type="button" className="link-button" onClick={() => showOverlay('syntax')}>
        Syntax of queries
      </button>
    </p>
  );
}

/** The query could not be read; the line above says where. */
export function Unread() {
  const submitted = useSearch((state) => state.submitted);
  return (
    <div className="empty nothing">
      <AsItStands search={submitted} />
      <p>“Quotes” take what is between them as text.</p>
      <SyntaxGuide />
    </div>
  );
}

export function FilteredOut({ loadedCount }: { readonly loadedCount: number }) {
  const { clear } = useFacetChoice();
  return (
    <div className="empty nothing">
      <p>
        {loadedCount === 1
          ? 'The one loaded file is filtered out.'
          : `All ${count(loadedCount)} loaded files are filtered out.`}
      </p>
      <p>
        <button type="button" className="button" onClick={clear}>
          Clear filters
        </button>
      </p>
    </div>
  );
}

export function Nothing() {
  const hints = useSearch((state) => state.outcome?.hints ?? NO_HINTS);
  const displayed = useSearch((state) => state.displayed);
  const addressOf = useChanged(displayed);
  return (
    <div className="empty nothing">
      {hints.length > 0 && (
        <ul>
          {hints.map(({ message, query, repo }) => (
            <li key={message}>
              <VisibleText text={message} />{' '}
              {query !== undefined && (
                <Link href={addressOf({ query })}>
                  <code>
                    <VisibleText text={query} />
                  </code>
                </Link>
              )}
              {repo !== undefined && (
                <Link href={`/repos?open=${encodeURIComponent(repo)}`}>Show</Link>
              )}
            </li>
          ))}
        </ul>
      )}
      {displayed?.isCaseSensitivityEnabled === true && (
        <p>
          <Link href={addressOf({ isCaseSensitivityEnabled: false })}>
            Search without regard to upper and lower case
          </Link>
        </p>
      )}
      <AsItStands search={displayed} />
      <p>
        Words must all occur in one file, in any order; “quotes” keep them together. Files that are
        binary or too large are found by their names alone.
      </p>
      <SyntaxGuide />
    </div>
  );
}

const NO_HINTS: readonly never[] = [];
