// The parameters of the address. Why not the router's: it decodes the whole address before the parameters, so `%2541`
// becomes `A`, and an encoded `&` separates parameters.

import { useMemo } from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';

export function useParameters(): URLSearchParams {
  const search = useSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}

interface ChangeOptions {
  /** Replace the current history entry? */
  readonly replace?: boolean;
  /** The state of the history entry. */
  readonly state?: object;
}

/** @param change  returns the new parameters; may change its argument */
export function changeParameters(
  change: (parameters: URLSearchParams) => URLSearchParams,
  options: ChangeOptions = {},
): void {
  const text = change(new URLSearchParams(location.search)).toString();
  navigate(`${location.pathname}${text === '' ? '' : `?${text}`}`, options);
}

/** @param value  undefined: removes the parameter */
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
