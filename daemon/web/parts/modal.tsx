// A dialog over the page, open as long as it is there.

import { Dialog, DialogHeading } from '@ariakit/react';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import '../styles/overlays.css';

interface ModalProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
}

export function Modal({ title, close, children }: ModalProps) {
  return (
    <Dialog
      open
      onClose={close}
      className="dialog dialog-wide"
      backdrop={<div className="backdrop" />}
    >
      <div className="dialog-head">
        <DialogHeading className="dialog-title">{title}</DialogHeading>
        <button type="button" className="icon-button" aria-label="Close" onClick={close}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </div>
      {children}
    </Dialog>
  );
}
