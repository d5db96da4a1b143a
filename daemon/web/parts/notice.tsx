// A message next to its cause: what happened, and the next step.

import type { ReactNode } from 'react';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { ICON } from './icon.ts';
import { VisibleText } from './visible-text.tsx';

export type NoticeKind = 'info' | 'ok' | 'warn' | 'danger';

const ICONS = { info: Info, ok: CircleCheck, warn: TriangleAlert, danger: CircleAlert } as const;

export interface NoticeProps {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

export function Notice({ kind, title, children, action }: NoticeProps) {
  const Icon = ICONS[kind];
  return (
    <div className={`notice notice-${kind}`} role={kind === 'danger' ? 'alert' : 'status'}>
      <Icon {...ICON} />
      <div className="notice-text">
        <strong>
          <VisibleText text={title} />
        </strong>
        {children !== undefined && <div>{children}</div>}
      </div>
      {action !== undefined && (
        <button type="button" className="button" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}
