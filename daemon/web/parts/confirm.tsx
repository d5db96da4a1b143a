// A button for what cannot be taken back: it asks first, naming the thing.

import { Dialog, DialogDismiss, DialogHeading } from '@ariakit/react';
import { useState } from 'react';

interface ConfirmButtonProps {
  readonly label: string;
  readonly title: string;
  readonly text: string;
  readonly run: () => void;
  readonly isDisabled?: boolean;
}

export function ConfirmButton({ label, title, text, run, isDisabled = false }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" disabled={isDisabled} onClick={() => setOpen(true)}>
        {label}
      </button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        className="dialog"
        backdrop={<div className="backdrop" />}
      >
        <DialogHeading className="dialog-title">{title}</DialogHeading>
        <p>{text}</p>
        <div className="dialog-end">
          <DialogDismiss className="button">Cancel</DialogDismiss>
          <button
            type="button"
            className="button button-danger"
            onClick={() => {
              setOpen(false);
              run();
            }}
          >
            {label}
          </button>
        </div>
      </Dialog>
    </>
  );
}
