// A modal dialog, open while it is rendered.

import { Dialog, DialogHeading } from '@ariakit/react';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './icon-button.tsx';
import '../styles/overlays.css';

interface ModalProps {
  readonly title: string;
  readonly close: () => void;
  /** A button that opens another dialog. */
  readonly other?: { readonly label: string; readonly run: () => void };
  readonly children: ReactNode;
}

export function Modal({ title, close, other, children }: ModalProps) {
  return (
    <Dialog
      open
      onClose={close}
      className="dialog dialog-wide"
      backdrop={<div className="backdrop" />}
    >
      <div className="dialog-head">
        <DialogHeading className="dialog-title">{title}</DialogHeading>
        {other !== undefined && (
          <button type="button" className="link-button dialog-other" onClick={other.run}>
            {other.label}
          </button>
        )}
        <IconButton label="Close" icon={X} run={close} />
      </div>
      {children}
    </Dialog>
  );
}
