// The parameters of the address as it stands. Why not those of the router: it decodes the address, and then its parameters, so
// that `%2541` becomes `A`, and what is in a parameter becomes parameters.

import { useMemo } from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';

export function useParameters(): URLSearchParams {
  const search = useSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}

interface ChangeOptions {
  /** Whether the address takes the place of the one before. */
  readonly replace?: boolean;
}

/** @param change  gives others in place of those of the address, or changes them */
export function changeParameters(
  change: (parameters: URLSearchParams) => URLSearchParams,
  options: ChangeOptions = {},
): void {
  const text = change(new URLSearchParams(location.search)).toString();
  navigate(`${location.pathname}${text === '' ? '' : `?${text}`}`, options);
}

/** @param value  undefined: none */
export function setParameter(
  name: string,
  value: string | undefined,
  options: ChangeOptions = {},
): void {
  changeParameters((parameters) => {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
    return parameters;
  }, options);
}
