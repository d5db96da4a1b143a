// A button for what cannot be taken back: it asks first, naming the thing.

import { Dialog, DialogDismiss, DialogHeading } from '@ariakit/react';
import { useState } from 'react';
import { Field } from './field.tsx';
import '../styles/overlays.css';

interface ConfirmButtonProps {
  readonly label: string;
  readonly title: string;
  readonly text: string;
  readonly run: () => void;
  readonly isDisabled?: boolean;
  /** To be typed first, where a wrong row would cost much. */
  readonly phrase?: string;
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, title, text, run, isDisabled = false, phrase } = props;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <>
      <button type="button" className="button" disabled={isDisabled} onClick={() => setOpen(true)}>
        {label}
      </button>
      <Dialog
        open={isOpen}
        onClose={() => {
          setOpen(false);
          setTyped('');
        }}
        className="dialog"
        backdrop={<div className="backdrop" />}
      >
        <DialogHeading className="dialog-title">{title}</DialogHeading>
        <p>{text}</p>
        {phrase !== undefined && (
          <Field
            label={`Type ${phrase}`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <div className="dialog-end">
          <DialogDismiss className="button">Cancel</DialogDismiss>
          <button
            type="button"
            className="button button-danger"
            disabled={phrase !== undefined && typed !== phrase}
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
