// Input fields, with or without label and error.

import { Eye, EyeOff } from 'lucide-react';
import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react';
import { ICON } from './icon.ts';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly error?: string | undefined;
  /** A button at the end of the input. */
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

/** A password field with a button that makes the text visible. */
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
          aria-label={isVisible ? 'Hide password' : 'Show password'}
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
  /** Placeholder; default: the label. */
  readonly hint?: string;
  readonly className?: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

/** An input that filters a list. */
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
