// The parameters of an address as pages with lists use them: what is chosen is in the address, defaults are left out, and a
// choice begins at the first page.

import { changeParameters, useParameters } from './parameters.ts';

/** `step`: one can go back to what was before; `note`: what is typed, or opened and closed, takes its place. */
export type ChangeKind = 'step' | 'note';

type Changes = Readonly<Record<string, string | undefined>>;

export interface AddressParameters {
  /** From 1. */
  readonly page: number;
  /** Undefined: it is not given. */
  readonly valueOf: (name: string) => string | undefined;
  /** @param changes  by name; '' or undefined takes it out */
  readonly change: (changes: Changes, kind?: ChangeKind) => void;
  readonly go: (page: number) => void;
  /** An address with the parameters of this one, some of them changed. */
  readonly addressWith: (path: string, changes?: Changes) => string;
}

/** The parameters with some changed: known ones first, in their order, others as they stood. */
function changed(before: URLSearchParams, order: readonly string[], changes: Changes) {
  const pairs = new Map(before);
  const isOfList = (name: string): boolean => order.indexOf(name) < order.indexOf('page');
  if (Object.keys(changes).some(isOfList)) pairs.delete('page');
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') pairs.delete(name);
    else pairs.set(name, value);
  const ordered = order.flatMap((one): [string, string][] => {
    const found = pairs.get(one);
    return found === undefined ? [] : [[one, found]];
  });
  return new URLSearchParams([...ordered, ...[...pairs].filter(([one]) => !order.includes(one))]);
}

/** @param order  names of the parameters of the page; those before `page` choose what is listed */
export function useAddressParameters(order: readonly string[]): AddressParameters {
  const parameters = useParameters();
  const change = (changes: Changes, kind: ChangeKind = 'note'): void =>
    changeParameters((before) => changed(before, order, changes), { replace: kind === 'note' });
  return {
    page: Math.max(1, Math.trunc(Number(parameters.get('page') ?? 1)) || 1),
    valueOf: (name) => parameters.get(name) ?? undefined,
    change,
    go: (page) => change({ page: page === 1 ? '' : String(page) }, 'step'),
    addressWith: (path, changes = {}) => {
      const text = changed(parameters, order, changes).toString();
      return text === '' ? path : `${path}?${text}`;
    },
  };
}
