// The parameters of the address, and the way to change some of them.

import { useSearchParams } from 'wouter';

export type Changes = Readonly<Record<string, string | undefined>>;

/** The parameters with changes; undefined takes one out. */
export function changed(before: URLSearchParams, changes: Changes): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) after.delete(name);
    else after.set(name, value);
  return after;
}

/** Changes put no new entry into the history of the window. */
export function useParameters() {
  const [parameters, setParameters] = useSearchParams();
  const change = (changes: Changes): void =>
    setParameters((before) => changed(before, changes), { replace: true });
  return { parameters, change };
}
