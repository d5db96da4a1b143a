// Opens the guide to the syntax of queries, from wherever it is asked for.

import { create } from 'zustand';

export const useSyntax = create<{ readonly isOpen: boolean }>()(() => ({ isOpen: false }));

export function showSyntax(): void {
  useSyntax.setState({ isOpen: true });
}
