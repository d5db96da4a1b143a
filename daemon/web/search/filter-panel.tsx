// The filters: beside the results, or in a drawer if the window is narrow.

import { X } from 'lucide-react';
import { memo, type RefObject } from 'react';
import { Facets } from './facets.tsx';
import type { FacetChoice } from './facet-choice.ts';
import type { ResultFile } from './rows.ts';

interface FilterPanelProps {
  readonly files: readonly ResultFile[];
  /** Are the counts complete? */
  readonly isExact: boolean;
  readonly choice: FacetChoice;
  readonly isNarrow: boolean;
  readonly areFiltersVisible: boolean;
  readonly drawer: RefObject<HTMLDialogElement | null>;
}

export const FilterPanel = memo(function FilterPanel(props: FilterPanelProps) {
  const { isNarrow, areFiltersVisible, drawer, files, isExact, choice } = props;
  const facets = <Facets files={files} isExact={isExact} {...choice} />;
  if (!isNarrow) return areFiltersVisible ? facets : null;
  return (
    <dialog
      ref={drawer}
      className="drawer"
      aria-label="Filters"
      onClick={(event) => {
        // A click on the dialog element itself is outside its content.
        if (event.target === drawer.current) drawer.current.close();
      }}
    >
      <div className="drawer-content">
        <button
          type="button"
          className="icon-button drawer-close"
          aria-label="Close filters"
          onClick={() => drawer.current?.close()}
        >
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
        {facets}
      </div>
    </dialog>
  );
});
