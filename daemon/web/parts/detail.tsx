// Details of one row, above the table: a head with name and actions, and a body.

import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { visibleName } from './hidden-characters.ts';
import { ICON } from './icon.ts';
import { Name } from './visible-text.tsx';

interface DetailProps {
  readonly name: string;
  readonly close: () => void;
  /** Beside the name. */
  readonly head: ReactNode;
  /** At the end of the head. */
  readonly buttons: ReactNode;
  readonly children: ReactNode;
}

export function Detail({ name, close, head, buttons, children }: DetailProps) {
  return (
    <section className="detail" aria-label={`About ${visibleName(name)}`}>
      <div className="detail-head">
        <h2>
          <Name>{name}</Name>
        </h2>
        {head}
        <span className="button-row">
          {buttons}
          <button type="button" className="icon-button" aria-label="Close" onClick={close}>
            <X {...ICON} />
          </button>
        </span>
      </div>
      {children}
    </section>
  );
}
