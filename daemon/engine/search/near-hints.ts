// Hints for searches without results where a similar query has results (API.md 6.2): other revisions, a filter that matches
// no file, another letter case, `$` before CRLF; the last also where only some matches are missing. Similar queries run with
// the same access and scope.

import { nearest } from '../../base/nearest.ts';
import { languageTables } from '../../sources/languages/language-data.ts';
import { resolveLanguage } from '../../sources/languages/language-data.ts';
import { type Hint, HINT_TEXT_SIZE_MAX, HINTS_MAX, parses } from '../query/hints.ts';
import { canSee } from '../../repos/repo-access.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { parseQuery } from '../query/parser.ts';
import { printQuery } from '../query/print.ts';
import { isInSet, possibleRepos } from '../query/repo-set.ts';
import type { SearchRequest } from '../query/request.ts';
import { hasRevisionFilter } from '../query/revisions.ts';
import type { PatternNode, QueryNode, RegexNode, ValueNode } from '../query/tree.ts';
import { withCarriageReturns } from '../regex/line-ends.ts';
import { QueryError } from '../regex/query-error.ts';
import { PlanError } from '../host/encoded-plan.ts';
import type { StatsNumbers } from './answer.ts';
import { prepareSearch } from './prepare.ts';
import type { EngineParts, Prepared, SearchEnvironment } from './prepare.ts';
import { ShardError } from '../host/space.ts';
import type { Snapshot } from './snapshot.ts';
import { hasOtherRevisions } from './unsearched-hints.ts';
import { visibleRepos } from './visible.ts';

/** Most matches to count for a similar query. */
export const NEAR_MATCHES_MAX = 100;
/** Matches above which no similar queries are searched. Bound: time. */
const FOUND_MAX = 1000;
/** Characters of a filter shown in a message. */
const VALUE_SIZE_MAX = 100;

type Filter = PatternNode | ValueNode;

type Changed = Partial<Pick<SearchRequest, 'query' | 'matches' | 'isCaseSensitivityEnabled'>>;

/** Of a changed request, up to the limit; undefined: unknown in time. @param of  default: the request of the search */
type Count = (changed: Changed, of?: SearchRequest) => Promise<number | undefined>;

interface Counted {
  readonly numbers: StatsNumbers;
  readonly reasons: readonly string[];
}

/** `completeSearch` of search.ts. */
type Search = (
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  snapshot: Snapshot,
) => Promise<Counted>;

interface HintInputs {
  readonly parts: EngineParts;
  readonly request: SearchRequest;
  readonly environment: SearchEnvironment;
  readonly snapshot: Snapshot;
  readonly prepared: Prepared;
  readonly found: Found;
  readonly search: Search;
}

export interface Found {
  readonly matchCount: number;
  readonly isExhaustive: boolean;
  /** False: without regard to case nothing matches either. */
  readonly mayMatchFolded: boolean;
}

/** Whether a filter matches a repo, with or without files. */
type HasRepo = (filter: Filter) => Promise<boolean>;

/** Errors: those of a search, except damage. */
export async function answerHints(
  inputs: HintInputs,
): Promise<{ readonly hints?: readonly Hint[] }> {
  const { prepared, found } = inputs;
  const { matchCount, isExhaustive } = found;
  const prior = prepared.hints(matchCount > 0);
  if (matchCount > FOUND_MAX || !isExhaustive) return prior;
  const isNothing = matchCount === 0;
  const unindexed = isNothing ? prepared.unindexed() : [];
  const others = prior.hints ?? (unindexed.length > 0 ? [] : await nearHintsOf(inputs));
  const unsearched = isNothing ? [...unindexed, ...prepared.unsearched()] : [];
  const hints = [...others.slice(0, HINTS_MAX - unsearched.length), ...unsearched];
  return hints.length === 0 ? {} : { hints };
}

async function nearHintsOf(inputs: HintInputs): Promise<Hint[]> {
  const { request, found } = inputs;
  const { matchCount } = found;
  const { query: text } = request;
  if (typeof text !== 'string' || text.length > HINT_TEXT_SIZE_MAX) return [];
  const count = countOf(inputs);
  const { snapshot, environment } = inputs;
  const isVisible = ({ repoId }: RepoRecord): boolean => canSee(environment.repoAccess, repoId);
  const isElsewhere = matchCount === 0 && hasOtherRevisions(snapshot, isVisible);
  const elsewhere = isElsewhere ? await revisionHint(text, request, count) : [];
  return elsewhere.length > 0
    ? elsewhere
    : await nearHints(text, inputs, { count, hasRepo: hasRepoOf(inputs) });
}

/** For queries without `rev:`. */
async function revisionHint(
  text: string,
  { isRegexEnabled }: SearchRequest,
  count: Count,
): Promise<Hint[]> {
  const old = parseQuery(text, { isRegexEnabled });
  if (hasRevisionFilter(old)) return [];
  const query = old.kind === 'or' ? `rev:* (${text})` : `rev:* ${text}`;
  if (!parses(query, isRegexEnabled)) return [];
  const parts = old.kind === 'and' ? old.children : [old];
  const fragment = ['rev:"*"', ...parts.map(printQuery)].join(', ');
  if (printQuery(parseQuery(query, { isRegexEnabled })) !== `and(${fragment})`) return [];
  const found = (await count({ query })) ?? 0;
  return found === 0
    ? []
    : [{ message: `In other revisions there ${matchesFound(found)}.`, query }];
}

function countOf({ parts, request, environment, snapshot, search }: HintInputs): Count {
  // Bound: delay of an answer by all searches of similar queries.
  const endMs = performance.now() + 200;
  return async (changed, of = request) => {
    const nowMs = performance.now();
    if (endMs - nowMs < 1) return undefined;
    // Deadlines count from the arrival of the request, which may have waited for long.
    const timeoutMs = Math.floor(endMs - (environment.permit?.arrivedMs ?? nowMs));
    const small = { matches: NEAR_MATCHES_MAX, contextLines: 0, whole: false, fields: [] };
    const near = { ...of, ...small, ...changed };
    // The daemon's health does not count these searches.
    const unheard = { ...parts, timeoutMs, onCompleted: undefined };
    try {
      return countIn(await search(unheard, near, environment, snapshot));
    } catch (error) {
      // A similar query may be too large where the query itself is not.
      if (error instanceof QueryError || error instanceof PlanError) return undefined;
      if (!(error instanceof ShardError)) throw error;
      parts.onShardFailure?.(error.shardId, error.message, error.fault);
      return undefined;
    }
  };
}

function hasRepoOf({ parts, request, environment, snapshot }: HintInputs): HasRepo {
  return async (filter) => {
    const near = { ...withoutFilter(request), query: filter };
    const { plan } = await prepareSearch(parts, near, environment, snapshot);
    const wanted = possibleRepos(plan);
    const repos = visibleRepos(snapshot, environment.repoAccess);
    return repos.some(({ repoId }) => isInSet(wanted, repoId));
  };
}

function withoutFilter(request: SearchRequest): SearchRequest {
  const { filter: _, ...others } = request;
  return others;
}

function countIn({ numbers, reasons }: Counted): number | undefined {
  const { totalMatchCount } = numbers;
  return totalMatchCount === 0 && reasons.length > 0 ? undefined : totalMatchCount;
}

async function nearHints(
  text: string,
  { request, prepared, found }: HintInputs,
  counts: Pick<NearReader, 'count' | 'hasRepo'>,
): Promise<Hint[]> {
  const { isRegexEnabled, isCaseSensitivityEnabled, filter } = request;
  const foundCount = found.matchCount;
  const options = { isRegexEnabled, isFolded: !isCaseSensitivityEnabled };
  const query = filter === undefined ? prepared.tree : parseQuery(text, options);
  const parts = query.kind === 'and' ? query.children : [query];
  const unfiltered = withoutFilter(request);
  const reader: NearReader = { text, isRegexEnabled, unfiltered, ...counts };
  const { count } = counts;
  if (foundCount > 0) return await lineEndHints(parts, reader, foundCount);
  const filters = parts.filter(isFilter).slice(0, 4);
  // Alone, a filter looks at the default revision.
  const empty = hasRevisionFilter(prepared.tree) ? [] : await emptyFilters(filters, reader);
  if (empty.length > 0) return empty;
  const hints: Hint[] = [];
  hints.push(...(await lineEndHints(parts, reader, 0)));
  if (isCaseSensitivityEnabled && found.mayMatchFolded) {
    const foldedCount = (await count({ isCaseSensitivityEnabled: false })) ?? 0;
    if (foldedCount > 0)
      hints.push({
        message: `Without regard to case (isCaseSensitivityEnabled) there ${matchesFound(foldedCount)}.`,
      });
  }
  if (hints.length === 0 && filters.length > 0 && parts.length > 1)
    for (const filter of filters) hints.push(...(await withoutHint([filter], '', reader)));
  return hints;
}

interface NearReader {
  readonly text: string;
  readonly isRegexEnabled: boolean;
  readonly unfiltered: SearchRequest;
  readonly count: Count;
  readonly hasRepo: HasRepo;
}

function isFilter(node: QueryNode): node is Filter {
  return node.kind === 'pattern' || (node.kind === 'value' && !OF_THEIR_OWN.includes(node.prefix));
}

/** Revisions have their own hints (revision-hints.ts); the others give an error or match nothing. */
const OF_THEIR_OWN: readonly string[] = ['rev', 'context', 'reposet'];

/** On filters that match no file. */
async function emptyFilters(filters: readonly Filter[], reader: NearReader): Promise<Hint[]> {
  const empty: Filter[] = [];
  for (const filter of filters)
    if ((await reader.count({ query: filter }, reader.unfiltered)) === 0) empty.push(filter);
  if (empty.length === 0) return [];
  const messages: string[] = [];
  for (const filter of empty) messages.push(await emptiness(filter, reader));
  const message = messages.join(' ');
  const hints = await withoutHint(empty, `${message} `, reader);
  return hints.length > 0 ? hints : [{ message }];
}

async function emptiness(filter: Filter, { hasRepo }: NearReader): Promise<string> {
  const described = describeFilter(filter);
  if (filter.prefix === 'repo')
    return (await hasRepo(filter))
      ? `No file is indexed in the repositories that match ${described}.`
      : `No repository matches ${described}.`;
  if (filter.prefix !== 'lang') return `No file matches ${described}.`;
  const { value } = filter;
  if (resolveLanguage(value) !== undefined) return `No file has the language of ${described}.`;
  const nearestName = nearest(value, [...languageTables().byName.keys()]);
  const fragment = nearestName === undefined ? '' : `; similar: lang:${nearestName}`;
  return `There is no language ${JSON.stringify(value.slice(0, VALUE_SIZE_MAX))}${fragment}.`;
}

function describeFilter(filter: Filter): string {
  const value = filter.kind === 'pattern' ? filter.pattern : filter.value;
  return `${filter.prefix}:${value.length > VALUE_SIZE_MAX ? `${value.slice(0, VALUE_SIZE_MAX)}…` : value}`;
}

/** A hint that the query has results without these filters. @param before  start of the message */
async function withoutHint(
  filters: readonly Filter[],
  before: string,
  { text, isRegexEnabled, count }: NearReader,
): Promise<Hint[]> {
  const query = withoutFilters(text, filters);
  if (query === undefined || !parses(query, isRegexEnabled)) return [];
  const found = (await count({ query })) ?? 0;
  if (found === 0) return [];
  const names = filters.map(describeFilter).join(' and ');
  return [{ message: `${before}Without ${names} there ${matchesFound(found)}.`, query }];
}

/** A hint on expressions with `$`, if files have CRLF there. @param foundCount  matches of the query itself */
async function lineEndHints(
  parts: readonly QueryNode[],
  { text, isRegexEnabled, count }: NearReader,
  foundCount: number,
): Promise<Hint[]> {
  const expressions = parts.filter((node): node is RegexNode => node.kind === 'regex');
  if (expressions.length === 0) return [];
  const query = withLineEnds(text, expressions, true);
  if (query === text || !parses(query, isRegexEnabled)) return [];
  // Most trees have no such line end; the index knows, which saves a second full search.
  const ofReturns = { query: withLineEnds(text, expressions, false), matches: 1 };
  if (foundCount > 0 && !(await count(ofReturns))) return [];
  const all = (await count({ query, matches: foundCount + NEAR_MATCHES_MAX })) ?? 0;
  if (all <= foundCount) return [];
  const more = `${matchesFound(all - foundCount)}${foundCount > 0 ? ' more' : ''}`;
  const message = `$ does not hold before the carriage return of CRLF; with \\r?$ there ${more}.`;
  return [{ message, query }];
}

function withLineEnds(text: string, expressions: readonly RegexNode[], isOptional: boolean) {
  const characters = Array.from(text);
  for (const { position, pattern } of expressions.toReversed())
    characters.splice(
      position,
      Array.from(pattern).length,
      withCarriageReturns(pattern, isOptional),
    );
  return characters.join('');
}

/** Undefined: a filter has a form that is not recognized here. */
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
    const after = end + quoteSize;
    characters.splice(from, after + (characters[after] === ' ' ? 1 : 0) - from);
  }
  return characters.join('').trim();
}

/** As in "there is 1 match". */
export function matchesFound(count: number): string {
  if (count === 1) return 'is 1 match';
  return `are ${count > NEAR_MATCHES_MAX ? `more than ${NEAR_MATCHES_MAX}` : count} matches`;
}
