// What the field of the query box is given, with completion or without.

import type { InputHTMLAttributes, RefObject } from 'react';

export interface BoxInputProps extends Omit<
  InputHTMLAttributes<HTMLInputElement>,
  'value' | 'onChange' | 'disabled'
> {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isRegexEnabled: boolean;
}
