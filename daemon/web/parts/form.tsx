// A form that the page submits itself.

import type { FormHTMLAttributes } from 'react';

interface FormProps extends FormHTMLAttributes<HTMLFormElement> {
  readonly send: () => void;
}

export function Form({ send, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    />
  );
}
