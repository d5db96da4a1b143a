// What to display without results: hints on the query, and changes that might find more. For no matches, for results
// that are all filtered out, and for a query that does not parse.

import { Link } from 'wouter';
import { useParameters } from '../data/parameters.ts';
import { showOverlay } from '../parts/overlay.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { count } from '../parts/number-format.ts';
import { parametersOf } from './address.ts';
import { useFacetChoice } from './facet-choice.ts';
import type { Search } from './messages.ts';
import { useSearch } from './search-store.ts';

/** The address of this search with some changes. */
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
      <Link href={addressOf({ isRegexEnabled: false })}>Search for the literal text</Link>
    </p>
  );
}

function SyntaxGuide() {
  return (
    <p>
      <button type="button" className="link-button" onClick={() => showOverlay('syntax')}>
        Query syntax
      </button>
    </p>
  );
}

/** For a query that does not parse. The summary above shows the error. */
export function Unread() {
  const submitted = useSearch((state) => state.submitted);
  return (
    <div className="empty nothing">
      <AsItStands search={submitted} />
      <p>Text between “quotes” is literal.</p>
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
          {hints.map(({ message, query, isRegexEnabled, repo }) => (
            <li key={message}>
              <VisibleText text={inWords(message)} />{' '}
              {query !== undefined && (
                <Link
                  href={addressOf({
                    query,
                    ...(isRegexEnabled === true ? { isRegexEnabled } : {}),
                  })}
                >
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
            Ignore upper and lower case
          </Link>
        </p>
      )}
      <AsItStands search={displayed} />
      <p>
        All words must occur in one file, in any order; “quotes” keep them together. Binary files
        and files that are too large are found by name only.
      </p>
      <SyntaxGuide />
    </div>
  );
}

const NO_HINTS: readonly never[] = [];

/** Hints name fields of a request; in the page these are switches of the query box. */
function inWords(message: string): string {
  // Not in the value of a filter that the message repeats.
  return message.replace(/(?<![:\w])isRegexEnabled\b/, 'the switch “Regular expressions”');
}
