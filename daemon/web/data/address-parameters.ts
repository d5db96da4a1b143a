// Address parameters of pages with lists. Choices are in the address, defaults are left out, and a new choice returns
// to the first page.

import { changeParameters, useParameters } from './parameters.ts';

/**
 * `step` adds a history entry, so that one can go back. `note` replaces the current entry; used for typing, opening and
 * closing.
 */
export type ChangeKind = 'step' | 'note';

type Changes = Readonly<Record<string, string | undefined>>;

export interface AddressParameters {
  /** From 1. */
  readonly page: number;
  /** Undefined: not in the address. */
  readonly valueOf: (name: string) => string | undefined;
  /** @param changes  by name; '' or undefined removes the parameter */
  readonly change: (changes: Changes, kind?: ChangeKind) => void;
  readonly go: (page: number) => void;
  /** An address with this page's parameters, some of them changed. */
  readonly addressWith: (path: string, changes?: Changes) => string;
}

/** Applies changes. Known parameters come first, in their order; others keep their place. */
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

/** @param order  the page's parameter names; those before `page` choose what the list contains */
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
