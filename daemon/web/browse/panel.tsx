// A panel below a file: a head with a title, and a body that scrolls.

import { X } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { visibleName } from '../parts/hidden-characters.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { Name } from '../parts/visible-text.tsx';

interface PanelProps {
  readonly title: string;
  readonly close: () => void;
  /** Beside the title. */
  readonly head: ReactNode;
  /** The body. */
  readonly body?: RefObject<HTMLDivElement | null>;
  readonly children: ReactNode;
}

export function Panel({ title, close, head, body, children }: PanelProps) {
  return (
    <section className="panel" aria-label={visibleName(title)}>
      <header className="panel-head">
        <h2 className="panel-title">
          <Name>{title}</Name>
        </h2>
        {head}
        <IconButton label="Close panel" hint="esc" icon={X} run={close} className="panel-close" />
      </header>
      <div
        ref={body}
        className="panel-body"
        tabIndex={0}
        role="region"
        aria-label={`${visibleName(title)}, list`}
      >
        {children}
      </div>
    </section>
  );
}
