// E-mail and password fields, marked for browsers and password managers.

import type { InputHTMLAttributes } from 'react';
import { Field, PasswordField } from '../parts/field.tsx';

interface CredentialProps {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isFirst?: boolean;
}

export function EmailField({ value, change, isFirst = false }: CredentialProps) {
  return (
    <Field
      label="E-mail"
      type="email"
      autoComplete="username"
      required
      autoFocus={isFirst}
      value={value}
      onChange={(event) => change(event.target.value)}
    />
  );
}

interface PasswordProps extends CredentialProps {
  readonly label?: string;
}

/** @param kind  attributes that tell the browser which password is meant */
function passwordField(kind: InputHTMLAttributes<HTMLInputElement>) {
  return ({ label = 'Password', value, change, isFirst = false }: PasswordProps) => (
    <PasswordField
      {...kind}
      label={label}
      required
      // Why not autoFocus: a dialog moves the focus to its first field, unless another is marked.
      data-autofocus={isFirst}
      value={value}
      onChange={(event) => change(event.target.value)}
    />
  );
}

export const CurrentPasswordField = passwordField({ autoComplete: 'current-password' });

export const NewPasswordField = passwordField({
  autoComplete: 'new-password',
  placeholder: '8 or more characters',
  minLength: 8,
});
