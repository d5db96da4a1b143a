// The filter panel: repositories, languages, folders and kinds of files with match counts. A `+` means that the answer
// is not complete.

import { useState } from 'react';
import { visibleName } from '../parts/hidden-characters.ts';
import { Name } from '../parts/visible-text.tsx';
import type { FacetChoice } from './facet-choice.ts';
import { type Facet, FACETS, valuesOf } from './facet-values.ts';
import { joined } from '../../engine/query/joined.ts';
import { filterOf } from './narrowing.ts';
import type { ResultFile } from './rows.ts';
import { useSearch } from './search-store.ts';
import { count, counted } from '../parts/number-format.ts';

const TITLES: Readonly<Record<Facet, string>> = {
  repo: 'Repository',
  lang: 'Language',
  path: 'Folder',
  kind: 'Kind of file',
};
/** Labels for empty values. */
const NAMELESS: Readonly<Partial<Record<Facet, string>>> = { path: 'repository root' };
const VALUES_MAX = 8;

interface FacetsProps extends FacetChoice {
  readonly files: readonly ResultFile[];
  /** Are the counts complete? */
  readonly isExact: boolean;
}

interface GroupProps extends FacetsProps {
  readonly facet: Facet;
}

function Group({ facet, files, chosen, before, toggle, isExact }: GroupProps) {
  const [isOpen, setOpen] = useState(false);
  const [filter, setFilter] = useState('');
  const all = valuesOf(facet, files, { chosen, before });
  const fitting = all.filter(({ value }) => value.toLowerCase().includes(filter.toLowerCase()));
  const displayed = isOpen ? fitting : fitting.slice(0, VALUES_MAX);
  const nameless = NAMELESS[facet] ?? 'none';
  if (all.length === 0) return null;
  return (
    <fieldset className="facet">
      <legend>
        {TITLES[facet]} <span className="faint">{count(all.length)}</span>
      </legend>
      {all.length > VALUES_MAX && (
        <input
          className="input facet-search"
          type="search"
          aria-label={`Find in ${TITLES[facet]}`}
          placeholder="Find"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      {displayed.map(({ value, matches, isOfBefore }) => (
        <label key={value} className="facet-row">
          <input
            type="checkbox"
            checked={chosen[facet].has(value)}
            onChange={() => toggle(facet, value)}
            aria-label={`${visibleName(value) || nameless}, ${isExact && !isOfBefore ? '' : 'at least '}${counted(matches, 'match', 'matches')}`}
          />
          <Name className="facet-value">{value || nameless}</Name>
          <span className="facet-count">
            {count(matches)}
            {isExact && !isOfBefore ? '' : '+'}
          </span>
        </label>
      ))}
      {fitting.length > VALUES_MAX && (
        <button type="button" className="link-button" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show fewer' : `Show all ${count(fitting.length)}`}
        </button>
      )}
    </fieldset>
  );
}

/** Moves the selection into the query, if a query can express it. */
function PutIntoQuery({ chosen, replaceBy }: Pick<FacetChoice, 'chosen' | 'replaceBy'>) {
  const displayed = useSearch((state) => state.displayed);
  const filter = filterOf(chosen);
  // No query finds files without a language or by kind.
  const isSayable = !chosen.lang.has('') && chosen.kind.size === 0;
  if (displayed === undefined || filter === undefined || !isSayable) return null;
  const query = joined(displayed.query, filter, displayed.isRegexEnabled);
  if (query === undefined) return null;
  return (
    <button type="button" className="link-button" onClick={() => replaceBy(query)}>
      Add to query
    </button>
  );
}

export function Facets(props: FacetsProps) {
  const isAny = FACETS.some((facet) => props.chosen[facet].size > 0);
  return (
    <aside className="facets" aria-label="Filters">
      <div className="facets-head">
        <h2>Filters</h2>
        {isAny && (
          <button type="button" className="link-button" onClick={props.clear}>
            Clear filters
          </button>
        )}
        <PutIntoQuery {...props} />
      </div>
      {FACETS.map((facet) => (
        <Group key={facet} facet={facet} {...props} />
      ))}
    </aside>
  );
}
