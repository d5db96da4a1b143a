// Properties of the query box's field, with or without completion.

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
