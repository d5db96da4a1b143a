// A panel below a file: a head with a title and what belongs to it, and what scrolls below that.

import { X } from 'lucide-react';
import type { KeyboardEventHandler, ReactNode, RefObject } from 'react';

interface PanelProps {
  readonly title: string;
  readonly close: () => void;
  /** Beside the title. */
  readonly head: ReactNode;
  /** What scrolls. */
  readonly body?: RefObject<HTMLDivElement | null>;
  readonly onKeyDown?: KeyboardEventHandler<HTMLDivElement>;
  readonly children: ReactNode;
}

export function Panel({ title, close, head, body, onKeyDown, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      <header className="panel-head">
        <h2 className="panel-title">
          <bdi>{title}</bdi>
        </h2>
        {head}
        <button
          type="button"
          className="icon-button panel-close"
          aria-label="Close the panel"
          title="Close the panel (esc)"
          onClick={close}
        >
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div
        ref={body}
        className="panel-body"
        tabIndex={0}
        role="region"
        aria-label={`${title}, list`}
        onKeyDown={onKeyDown}
      >
        {children}
      </div>
    </section>
  );
}
