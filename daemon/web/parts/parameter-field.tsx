// A field for an address parameter.

import type { AddressParameters } from '../data/address-parameters.ts';
import { Field } from './field.tsx';

interface ParameterFieldProps {
  readonly address: AddressParameters;
  readonly name: string;
  readonly label: string;
  readonly type?: 'search' | 'date';
}

export function ParameterField({ address, name, label, type = 'search' }: ParameterFieldProps) {
  return (
    <Field
      label={label}
      type={type}
      value={address.valueOf(name) ?? ''}
      onChange={(event) => address.change({ [name]: event.target.value })}
    />
  );
}
