// Inputs: with a label above and an error below, or with neither.

import { Eye, EyeOff } from 'lucide-react';
import { useId, useState } from 'react';
import type { InputHTMLAttributes, ReactNode } from 'react';
import { ICON } from './icon.ts';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly error?: string | undefined;
  /** A button at its end. */
  readonly beside?: ReactNode;
}

export function Field({ label, error, beside, ...rest }: FieldProps) {
  const id = useId();
  const input = (
    <input
      {...rest}
      id={id}
      className="input"
      aria-invalid={error !== undefined}
      aria-describedby={error === undefined ? undefined : `${id}-error`}
    />
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {beside === undefined ? (
        input
      ) : (
        <div className="with-button">
          {input}
          {beside}
        </div>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

/** A field whose text can be looked at. */
export function PasswordField(props: FieldProps) {
  const [isVisible, setVisible] = useState(false);
  const Icon = isVisible ? EyeOff : Eye;
  return (
    <Field
      {...props}
      type={isVisible ? 'text' : 'password'}
      beside={
        <button
          type="button"
          className="icon-button"
          aria-label={isVisible ? 'Hide the password' : 'Show the password'}
          aria-pressed={isVisible}
          onClick={() => setVisible(!isVisible)}
        >
          <Icon {...ICON} />
        </button>
      }
    />
  );
}

interface FilterInputProps {
  readonly label: string;
  /** What stands in it while it is empty, where that is not the label. */
  readonly hint?: string;
  readonly className?: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

/** An input that chooses what is shown beside it. */
export function FilterInput({ label, hint = label, className = '', value, set }: FilterInputProps) {
  return (
    <input
      type="search"
      className={`input ${className}`}
      aria-label={label}
      placeholder={hint}
      value={value}
      onChange={(event) => set(event.target.value)}
    />
  );
}
