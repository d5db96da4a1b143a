// What to say where nothing was found and a near form of the query finds something (API.md 6.2): a filter that no file fits,
// another letter case, `$` before CRLF. The near forms are searched with the same access, in what the same request may search.

import { nearest } from '../../base/nearest.ts';
import { languageTables } from '../../sources/languages/language-data.ts';
import { resolveLanguage } from '../../sources/languages/languages.ts';
import { type Hint, HINT_TEXT_SIZE_MAX, HINTS_MAX, parses } from '../query/hints.ts';
import { parseQuery } from '../query/parser.ts';
import { repoTestOf } from '../query/repos.ts';
import type { SearchRequest } from '../query/request.ts';
import type { PatternNode, QueryNode, RegexNode, ValueNode } from '../query/tree.ts';
import { withCarriageReturns } from '../regex/line-ends.ts';
import { prepareSearch } from './prepare.ts';
import type { CompletedSearch, EngineParts, Prepared, SearchEnvironment } from './prepare.ts';
import { ShardError } from '../host/space.ts';
import type { Snapshot } from './snapshot.ts';
import { visibleRepos } from './visible.ts';

/** Matches of a near form that are counted. */
const COUNT_MAX = 100;
/** Guess: how long near forms may be searched, all of them together. */
const HINTS_MS = 200;
/** Filters of a query that are looked at. */
const FILTERS_MAX = 4;
/** Characters of a filter that a message repeats. */
const SHOWN_MAX = 100;

type Filter = PatternNode | ValueNode;

/** The request, with something changed. */
type Changed = Partial<Pick<SearchRequest, 'query' | 'isCaseSensitivityEnabled'>>;

/** How many matches a changed request has, as far as they are counted; undefined: that is not known in time. */
type Count = (changed: Changed) => Promise<number | undefined>;

type Counted = Pick<CompletedSearch, 'numbers' | 'reasons'>;

/** `completeSearch` of service.ts. */
type Search = (
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  snapshot: Snapshot,
) => Promise<Counted>;

/** A search that is over. */
interface Over {
  readonly parts: EngineParts;
  readonly request: SearchRequest;
  readonly environment: SearchEnvironment;
  readonly snapshot: Snapshot;
  readonly prepared: Prepared;
  readonly isFound: boolean;
  readonly search: Search;
}

/** Whether there is a repo for which a filter holds, with files or without. */
type HasRepo = (filter: Filter) => Promise<boolean>;

/** The hints of an answer. Errors: those of a search, damage apart. */
export async function answerHints(over: Over): Promise<{ readonly hints?: readonly Hint[] }> {
  const { request, prepared, isFound } = over;
  const told = prepared.hints(isFound);
  const { query: text } = request;
  if (isFound || told.hints !== undefined) return told;
  if (typeof text !== 'string' || text.length > HINT_TEXT_SIZE_MAX) return {};
  const hints = await nearHints(text, request, countOf(over), hasRepoOf(over));
  return hints.length === 0 ? {} : { hints: hints.slice(0, HINTS_MAX) };
}

function countOf({ parts, request, environment, snapshot, search }: Over): Count {
  const endMs = performance.now() + HINTS_MS;
  return async (changed) => {
    const timeoutMs = Math.floor(endMs - performance.now());
    if (timeoutMs <= 0) return undefined;
    const near = { ...request, matches: COUNT_MAX, contextLines: 0, fields: [], ...changed };
    // They are no searches of their own to metrics.
    const unheard = { ...parts, timeoutMs, onCompleted: undefined };
    try {
      return countIn(await search(unheard, near, environment, snapshot));
    } catch (error) {
      if (!(error instanceof ShardError)) throw error;
      parts.onShardFailure?.(error.shardId, error.message, error.fault);
      return undefined;
    }
  };
}

function hasRepoOf({ parts, request, environment, snapshot }: Over): HasRepo {
  return async (filter) => {
    const near = { ...request, query: filter };
    const { conditions } = await prepareSearch(parts, near, environment, snapshot);
    const test = repoTestOf(conditions);
    const repos = visibleRepos(snapshot, environment.sight);
    return repos.some(({ repoId }) => test(repoId) !== false);
  };
}

function countIn({ numbers, reasons }: Counted): number | undefined {
  const { totalMatchCount } = numbers;
  return totalMatchCount === 0 && reasons.length > 0 ? undefined : totalMatchCount;
}

async function nearHints(
  text: string,
  { isRegexEnabled, isCaseSensitivityEnabled }: SearchRequest,
  count: Count,
  hasRepo: HasRepo,
): Promise<Hint[]> {
  const isFolded = !isCaseSensitivityEnabled;
  const query = parseQuery(text, { isRegexEnabled, isFolded });
  const parts = query.kind === 'and' ? query.children : [query];
  const filters = parts.filter(isFilter).slice(0, FILTERS_MAX);
  const reader: NearReader = { text, isRegexEnabled, count, hasRepo };
  const empty = await emptyFilters(filters, reader);
  if (empty.length > 0) return empty;
  const hints: Hint[] = [];
  hints.push(...(await lineEndHints(parts, reader)));
  if (isCaseSensitivityEnabled) {
    const found = (await count({ isCaseSensitivityEnabled: false })) ?? 0;
    if (found > 0)
      hints.push({
        message: `Without regard to case (isCaseSensitivityEnabled) there ${matches(found)}.`,
      });
  }
  if (hints.length === 0 && filters.length > 0 && parts.length > 1)
    for (const filter of filters) hints.push(...(await withoutHint([filter], '', reader)));
  return hints;
}

interface NearReader {
  readonly text: string;
  readonly isRegexEnabled: boolean;
  readonly count: Count;
  readonly hasRepo: HasRepo;
}

function isFilter(node: QueryNode): node is Filter {
  return node.kind === 'pattern' || (node.kind === 'value' && !OF_THEIR_OWN.includes(node.prefix));
}

/** Revisions have hints of their own (revision-hints.ts); what the others name is an error or nothing at all. */
const OF_THEIR_OWN: readonly string[] = ['rev', 'context', 'reposet'];

/** A hint on filters that no file fits. */
async function emptyFilters(filters: readonly Filter[], reader: NearReader): Promise<Hint[]> {
  const empty: Filter[] = [];
  for (const filter of filters)
    if ((await reader.count({ query: filter })) === 0) empty.push(filter);
  if (empty.length === 0) return [];
  const messages: string[] = [];
  for (const filter of empty) messages.push(await emptiness(filter, reader));
  const message = messages.join(' ');
  const hints = await withoutHint(empty, `${message} `, reader);
  return hints.length > 0 ? hints : [{ message }];
}

async function emptiness(filter: Filter, { hasRepo }: NearReader): Promise<string> {
  const shown = shownFilter(filter);
  if (filter.prefix === 'repo')
    return (await hasRepo(filter))
      ? `No file is indexed in the repositories that fit ${shown}.`
      : `No repository fits ${shown}.`;
  if (filter.prefix !== 'lang') return `No file fits ${shown}.`;
  const { value } = filter;
  if (resolveLanguage(value) !== undefined) return `No file is in the language of ${shown}.`;
  const known = nearest(value, [...languageTables().byName.keys()]);
  const meant = known === undefined ? '' : `; near: lang:${known}`;
  return `There is no language ${JSON.stringify(value.slice(0, SHOWN_MAX))}${meant}.`;
}

function shownFilter(filter: Filter): string {
  const value = filter.kind === 'pattern' ? filter.pattern : filter.value;
  return `${filter.prefix}:${value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value}`;
}

/** A hint that the query finds something without these filters, if it does. @param before  what the message begins with */
async function withoutHint(
  filters: readonly Filter[],
  before: string,
  { text, isRegexEnabled, count }: NearReader,
): Promise<Hint[]> {
  const query = withoutFilters(text, filters);
  if (query === undefined || !parses(query, isRegexEnabled)) return [];
  const found = (await count({ query })) ?? 0;
  if (found === 0) return [];
  const names = filters.map(shownFilter).join(' and ');
  return [{ message: `${before}Without ${names} there ${matches(found)}.`, query }];
}

/** A hint on expressions with `$`, if files have CRLF there. */
async function lineEndHints(
  parts: readonly QueryNode[],
  { text, isRegexEnabled, count }: NearReader,
): Promise<Hint[]> {
  const characters = Array.from(text);
  const expressions = parts.filter((node): node is RegexNode => node.kind === 'regex');
  for (const { position, pattern } of expressions.toReversed())
    characters.splice(position, Array.from(pattern).length, withCarriageReturns(pattern));
  const query = characters.join('');
  if (query === text || !parses(query, isRegexEnabled)) return [];
  const found = (await count({ query })) ?? 0;
  if (found === 0) return [];
  const message = `$ does not hold before the carriage return of CRLF; with \\r?$ there ${matches(found)}.`;
  return [{ message, query }];
}

/** The text without filters; undefined: one is written in a way that is not understood here. */
function withoutFilters(text: string, filters: readonly Filter[]): string | undefined {
  const characters = Array.from(text);
  for (const filter of filters.toReversed()) {
    const value = filter.kind === 'pattern' ? filter.pattern : filter.value;
    const end = filter.position + Array.from(value).length;
    const head = characters.slice(0, filter.position).join('');
    const [start] = /[a-z]+:\s*"?$/.exec(head) ?? [];
    if (start === undefined || characters.slice(filter.position, end).join('') !== value)
      return undefined;
    const quoteSize = start.endsWith('"') ? 1 : 0;
    const from = filter.position - start.length;
    characters.splice(from, end + quoteSize - from);
  }
  return characters.join('').replaceAll(/\s+/g, ' ').trim();
}

function matches(count: number): string {
  if (count === 1) return 'is 1 match';
  return `are ${count > COUNT_MAX ? `more than ${COUNT_MAX}` : count} matches`;
}
