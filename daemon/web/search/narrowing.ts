// Turns selected filters into a request. A complete answer is filtered on the page; for an incomplete one the daemon
// searches with the filter.

import { type SuggestionKind, writtenPattern, writtenValue } from './completion.ts';
import type { Chosen } from './facet-values.ts';
import { folderPattern } from './folders.ts';
import type { Search } from './messages.ts';
import type { ResultFile } from './rows.ts';

/** An answer that the daemon did not filter. */
export interface Unnarrowed {
  readonly search: Search;
  readonly files: readonly ResultFile[];
  readonly isAll: boolean;
}

/** Terms of which any must match. */
function anyOf(terms: readonly string[]): string[] {
  if (terms.length === 0) return [];
  return [terms.length === 1 ? terms.join('') : `(${terms.join(' or ')})`];
}

function termsOf(kind: SuggestionKind, values: ReadonlySet<string>): string[] {
  // No query finds files without a language.
  if (values.has('')) return [];
  return [...values].map((value) => `${kind}:${writtenValue(kind, value)}`);
}

function folderTerms(folders: ReadonlySet<string>): string[] {
  return [...folders].map((folder) => `file:${writtenPattern(folderPattern(folder))}`);
}

/** The selection as a query; undefined: none, or a query cannot express it. */
export function filterOf({ repo, lang, path }: Chosen): string | undefined {
  const terms = [termsOf('repo', repo), termsOf('lang', lang), folderTerms(path)].flatMap(anyOf);
  return terms.length === 0 ? undefined : terms.join(' ');
}

/** The search to send for the current selection. @param before  the last answer without filters */
export function narrowed(search: Search, chosen: Chosen, before: Unnarrowed | undefined): Search {
  const filter = filterOf(chosen);
  const isPartial =
    before?.isAll === false && JSON.stringify(before.search) === JSON.stringify(search);
  return isPartial && filter !== undefined ? { ...search, filter } : search;
}
