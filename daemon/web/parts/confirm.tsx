// A confirmation dialog that names its subject, and a button that opens one before something irreversible.

import { Dialog, DialogDismiss, DialogHeading } from '@ariakit/react';
import { useState } from 'react';
import { Field } from './field.tsx';
import '../styles/overlays.css';
import { visibleName } from './hidden-characters.ts';
import { VisibleText } from './visible-text.tsx';

interface Question {
  readonly title: string;
  readonly text: string;
  /** Names the action. */
  readonly label: string;
  readonly run: () => void;
  /** The user must type this first; for actions where a mistake costs much. */
  readonly phrase?: string | undefined;
}

interface ConfirmDialogProps extends Question {
  readonly close: () => void;
}

/** Open while it is rendered. */
export function ConfirmDialog({ title, text, label, run, phrase, close }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('');
  return (
    <Dialog open onClose={close} className="dialog" backdrop={<div className="backdrop" />}>
      <DialogHeading className="dialog-title">
        <VisibleText text={title} isName />
      </DialogHeading>
      <p>{text}</p>
      {phrase !== undefined && (
        <Field
          label={`Type ${visibleName(phrase)}`}
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
            close();
            run();
          }}
        >
          {label}
        </button>
      </div>
    </Dialog>
  );
}

export function ConfirmButton(question: Question) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        {question.label}
      </button>
      {isOpen && <ConfirmDialog {...question} close={() => setOpen(false)} />}
    </>
  );
}
