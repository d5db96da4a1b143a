// A dialog over the page, open as long as it is there.

import { Dialog, DialogHeading } from '@ariakit/react';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './icon-button.tsx';
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
        <IconButton label="Close" icon={X} run={close} />
      </div>
      {children}
    </Dialog>
  );
}
