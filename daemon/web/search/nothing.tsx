// Where nothing was found: what the query may have meant, and what might find more.

import { Link, useSearchParams } from 'wouter';
import { parametersOf } from './address.ts';
import { useSearch } from './search-store.ts';
import { showSyntax } from './syntax.ts';

export function Nothing() {
  const hints = useSearch((state) => state.outcome?.hints ?? NO_HINTS);
  const shown = useSearch((state) => state.shown);
  const [parameters] = useSearchParams();
  const addressOf = (changed: object): string =>
    shown === undefined
      ? ''
      : `/search?${parametersOf({ ...shown, ...changed }, parameters).toString()}`;
  return (
    <div className="empty nothing">
      {hints.length > 0 && (
        <ul>
          {hints.map(({ message, query }) => (
            <li key={message}>
              {message}{' '}
              {query !== undefined && (
                <Link href={addressOf({ query })}>
                  <code>{query}</code>
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
      {shown?.isCaseSensitivityEnabled === true && (
        <p>
          <Link href={addressOf({ isCaseSensitivityEnabled: false })}>
            Search without regard to upper and lower case
          </Link>
        </p>
      )}
      {shown?.isRegexEnabled === true && (
        <p>
          <Link href={addressOf({ isRegexEnabled: false })}>Search for the text as it stands</Link>
        </p>
      )}
      <p>
        Words must all occur in one file, in any order; “quotes” keep them together. Files that are
        binary or too large are found by their names alone.
      </p>
      <p>
        <button type="button" className="link-button" onClick={showSyntax}>
          Syntax of queries
        </button>
      </p>
    </div>
  );
}

const NO_HINTS: readonly never[] = [];
