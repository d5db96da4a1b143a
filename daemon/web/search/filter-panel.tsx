// Where the filters are: beside the results, or in a drawer over them where there is little room.

import { X } from 'lucide-react';
import type { RefObject } from 'react';
import { Facets } from './facets.tsx';
import type { FacetChoice } from './facet-choice.ts';
import type { ResultFile } from './rows.ts';

interface FilterPanelProps extends FacetChoice {
  readonly files: readonly ResultFile[];
  readonly isNarrow: boolean;
  readonly areShown: boolean;
  readonly drawer: RefObject<HTMLDialogElement | null>;
}

export function FilterPanel({ isNarrow, areShown, drawer, ...facets }: FilterPanelProps) {
  if (!isNarrow) return areShown ? <Facets {...facets} /> : null;
  return (
    <dialog
      ref={drawer}
      className="drawer"
      aria-label="Filters"
      onClick={(event) => {
        // The dialog itself is what lies around its content.
        if (event.target === drawer.current) drawer.current.close();
      }}
    >
      <div className="drawer-content">
        <button
          type="button"
          className="icon-button drawer-close"
          aria-label="Close the filters"
          onClick={() => drawer.current?.close()}
        >
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
        <Facets {...facets} />
      </div>
    </dialog>
  );
}
