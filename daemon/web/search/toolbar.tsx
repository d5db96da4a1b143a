// Actions on the results: order, filters, downloads, link.

import { Download, Link as LinkIcon, SlidersHorizontal } from 'lucide-react';
import { setParameter, useParameters } from '../data/parameters.ts';
import { copyText } from '../parts/clipboard.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { ICON } from '../parts/icon.ts';
import { linkToResults } from './box-state.ts';
import { startDownload, useDownload } from './download-state.ts';
import type { FacetChoice } from './facet-choice.ts';
import type { DownloadFormat } from './messages.ts';
import { isSortOrder, type SortOrder } from './order.ts';
import { PlanButton } from './plan-button.tsx';
import { useSearch } from './search-store.ts';

const SORT_NAMES: readonly (readonly [SortOrder, string])[] = [
  ['score', 'Best'],
  ['repo', 'Repository'],
  ['path', 'Path'],
];

function SortChoice() {
  const parameters = useParameters();
  const sort = parameters.get('sort');
  return (
    <select
      className="input toolbar-select"
      aria-label="Order"
      value={isSortOrder(sort) ? sort : 'score'}
      onChange={({ target: { value } }) =>
        setParameter('sort', value === 'score' ? undefined : value)
      }
    >
      {SORT_NAMES.map(([order, name]) => (
        <option key={order} value={order}>
          {name}
        </option>
      ))}
    </select>
  );
}

function DownloadButton({ format, chosen }: { readonly format: DownloadFormat } & Narrowing) {
  const isBusy = useDownload((state) => state.isBusy);
  // The results of an earlier search are not those of one that failed.
  const displayed = useSearch((view) =>
    view.state === 'failed' && view.displayed !== view.submitted ? undefined : view.displayed,
  );
  const name = format.toUpperCase();
  return (
    <button
      type="button"
      className="icon-button toolbar-text"
      disabled={isBusy || displayed === undefined}
      title={`Download the results as ${name}`}
      aria-label={`Download the results as ${name}`}
      onClick={() => {
        if (displayed === undefined) return;
        startDownload(displayed, format, {
          repositories: [...chosen.repo],
          languages: [...chosen.lang],
          folders: [...chosen.path],
          kinds: [...chosen.kind],
        });
      }}
    >
      <Download {...ICON} /> {name}
    </button>
  );
}

type Narrowing = Pick<FacetChoice, 'chosen'>;

interface ToolbarProps extends Narrowing {
  readonly hasResults: boolean;
  readonly areFiltersOpen: boolean;
  readonly toggleFilters: () => void;
}

/** The actions for an answer. An empty answer still has its plan; without an answer there are none. */
export function Toolbar({ chosen, hasResults, areFiltersOpen, toggleFilters }: ToolbarProps) {
  const isAnswered = useSearch(({ outcome }) => outcome !== undefined);
  const filterCount = Object.values(chosen).reduce((sum, { size }) => sum + size, 0);
  if (!hasResults && !isAnswered) return null;
  return (
    <div className="toolbar" role="toolbar" aria-label="Results">
      {(hasResults || filterCount > 0) && (
        <button
          type="button"
          className="icon-button toolbar-text"
          aria-expanded={areFiltersOpen}
          title="Filters (f)"
          onClick={toggleFilters}
        >
          <SlidersHorizontal {...ICON} /> Filters{filterCount === 0 ? '' : ` (${filterCount})`}
        </button>
      )}
      {hasResults && <SortChoice />}
      <span className="toolbar-end">
        <PlanButton />
        {hasResults && <DownloadButton format="json" chosen={chosen} />}
        {hasResults && <DownloadButton format="csv" chosen={chosen} />}
        <IconButton
          label="Copy a link to this search"
          icon={LinkIcon}
          run={() => void copyText(linkToResults(), 'Link')}
        />
      </span>
    </div>
  );
}
