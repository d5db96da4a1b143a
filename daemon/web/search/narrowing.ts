// What is asked of the daemon where filters are chosen: an answer that is all is narrowed here; where it was not all, the
// daemon is asked with the same filter.

import { writtenPattern, writtenValue } from './completion.ts';
import type { SuggestionKind } from './completion.ts';
import type { Chosen } from './facet-choice.ts';
import { folderPattern } from './folders.ts';
import type { Search } from './messages.ts';
import type { Unnarrowed } from './search-store.ts';

/** Terms any of which will do. */
function anyOf(terms: readonly string[]): string[] {
  if (terms.length === 0) return [];
  return [terms.length === 1 ? terms.join('') : `(${terms.join(' or ')})`];
}

function termsOf(kind: SuggestionKind, values: ReadonlySet<string>): string[] {
  // What has no language is found by no filter.
  if (values.has('')) return [];
  return [...values].map((value) => `${kind}:${writtenValue(kind, value)}`);
}

function folderTerms(folders: ReadonlySet<string>): string[] {
  return [...folders].map((folder) => `file:${writtenPattern(folderPattern(folder))}`);
}

/** What is chosen as a query; undefined: nothing, or nothing that a query can say. */
export function filterOf({ repo, lang, path }: Chosen): string | undefined {
  const terms = [termsOf('repo', repo), termsOf('lang', lang), folderTerms(path)].flatMap(anyOf);
  return terms.length === 0 ? undefined : terms.join(' ');
}

/** A query that others may stand beside. Why: `or` binds less than what stands side by side. */
export function enclosed(query: string): string {
  const text = query.trim();
  return /\bor\b/i.test(text) ? `(${text})` : text;
}

/** A query and a filter as one query that means both. */
export function joined(query: string, filter: string): string {
  return `${enclosed(query)} ${filter}`;
}

/** The search of the address with what is chosen, as it is to be asked. @param before  the last answer that was not narrowed */
export function narrowed(search: Search, chosen: Chosen, before: Unnarrowed | undefined): Search {
  const filter = filterOf(chosen);
  const isPartial =
    before?.isAll === false && JSON.stringify(before.search) === JSON.stringify(search);
  return isPartial && filter !== undefined ? { ...search, filter } : search;
}
