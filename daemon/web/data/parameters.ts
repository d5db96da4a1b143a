// The parameters of the address as it stands. Why not those of the router: it decodes the address, and then its parameters, so
// that `%2541` becomes `A`, and what is in a parameter becomes parameters.

import { useMemo } from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';

type Change = (before: URLSearchParams) => URLSearchParams;

export function useParameters(): URLSearchParams {
  const search = useSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** @param change  gives others in place of those of the address */
export function changeParameters(
  change: Change,
  options: { readonly replace?: boolean } = {},
): void {
  const text = change(new URLSearchParams(location.search)).toString();
  navigate(`${location.pathname}${text === '' ? '' : `?${text}`}`, options);
}
