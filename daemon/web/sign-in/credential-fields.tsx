// Fields of those who sign in: e-mail and password, as browsers and their keepers of passwords know them.

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

export function CurrentPasswordField({
  label = 'Password',
  value,
  change,
}: CredentialProps & { readonly label?: string }) {
  return (
    <PasswordField
      label={label}
      autoComplete="current-password"
      required
      value={value}
      onChange={(event) => change(event.target.value)}
    />
  );
}

export function NewPasswordField({
  label = 'Password',
  value,
  change,
}: CredentialProps & { readonly label?: string }) {
  return (
    <PasswordField
      label={label}
      autoComplete="new-password"
      placeholder="8 or more characters"
      minLength={8}
      required
      value={value}
      onChange={(event) => change(event.target.value)}
    />
  );
}
