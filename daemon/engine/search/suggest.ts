// Completions for a partial query (API.md 13.7): names of repositories, languages, revisions and contexts visible to the
// caller, and files and symbols from an ordinary search that ends early.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { type ContextRepo, reposOfContext } from '../../repos/search-context.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { resolveLanguage } from '../../sources/languages/language-data.ts';
import { bothOf, filterSteps } from '../query/filter.ts';
import { isInSet, possibleRepos } from '../query/repo-set.ts';
import { contextRepoOf } from '../query/repos.ts';
import { ANY_REVISION, DEFAULT_REVISION } from '../query/revisions.ts';
import type { SuggestionKind } from '../query/request.ts';
import type { QueryNode } from '../query/tree.ts';
import { quotePattern } from '../regex/quote.ts';
import { parseRegex } from '../regex/syntax.ts';
import { runInSlices } from './run-in-slices.ts';
import { languagesOf } from './docs-in-scope.ts';
import type { EngineParts, Prepared, SearchEnvironment } from './prepare.ts';
import { prepareSearch } from './prepare.ts';
import { parseFiles } from './render.ts';
import { completeSearch, withSnapshot } from './search.ts';
import type { Snapshot } from './snapshot.ts';
import { visibleRepos } from './visible.ts';

export interface SuggestCall {
  readonly kind: SuggestionKind;
  /** The typed part of the value, literal, case-insensitive. */
  readonly prefix: string;
  /** The rest of the query, only filters. */
  readonly query?: string | undefined;
  readonly limit: number;
}

export interface Suggestion {
  readonly value: string;
  readonly description?: string;
}

/** `weight`: number of repositories or files. */
interface Candidate extends Suggestion {
  readonly weight: number;
}

/** Time limit of the search, so that an answer takes less than 100 ms. */
const SEARCH_MS = 50;

const EVERYTHING: QueryNode = { kind: 'const', value: true };
const OPTIONS = {
  // Bound: time and memory.
  matches: 500,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

/** Best first. Errors: QueryError of the rest of the query; UnknownContextError; AbortError when the client is gone. */
export function suggest(
  parts: EngineParts,
  call: SuggestCall,
  environment: SearchEnvironment,
): Promise<Suggestion[]> {
  return withSnapshot(
    parts,
    () => parts.snapshots.acquire(),
    async (snapshot) => {
      const rest =
        call.query === undefined || call.query.trim() === ''
          ? EVERYTHING
          : await runInSlices(
              filterSteps(call.query, { isRegexEnabled: false, isFolded: true }),
              environment,
            );
      const { kind, prefix, limit } = call;
      if (kind === 'file' || kind === 'sym') {
        const found = await findNames(parts, kind, prefix, rest, environment, snapshot);
        return best(found, prefix, limit);
      }
      const prepared = await prepareSearch(
        parts,
        { ...OPTIONS, query: rest },
        environment,
        snapshot,
      );
      const candidates = await candidatesOf(kind, parts, prepared, environment, snapshot);
      const exactValue = kind === 'lang' ? resolveLanguage(prefix) : undefined;
      const fitting = candidates.filter(
        ({ value }) => value === exactValue || rankOf(value, prefix) < RANKS.none,
      );
      return best(fitting, prefix, limit, exactValue);
    },
  );
}

function candidatesOf(
  kind: Exclude<SuggestionKind, 'file' | 'sym'>,
  parts: EngineParts,
  prepared: Prepared,
  environment: SearchEnvironment,
  snapshot: Snapshot,
): Candidate[] | Promise<Candidate[]> {
  if (kind === 'lang') return languagesIn(prepared, environment);
  const wanted = possibleRepos(prepared.plan);
  const repos = visibleRepos(snapshot, environment.repoAccess).filter(({ repoId }) =>
    isInSet(wanted, repoId),
  );
  if (kind === 'repo') return repos.map(repoCandidate);
  return kind === 'rev' ? revisionsOf(repos) : contextsOf(repos, parts, environment);
}

function repoCandidate({ name, displayName }: RepoRecord): Candidate {
  return {
    value: name,
    weight: 0,
    ...omitUndefined({ description: displayName }),
  };
}

async function languagesIn(
  { scope, view }: Prepared,
  { signal }: SearchEnvironment,
): Promise<Candidate[]> {
  const counts = await languagesOf(scope.shards, view, SEARCH_MS, signal);
  return [...counts].map(([value, weight]) => ({
    value,
    weight,
    description: weight === 1 ? '1 file' : `${weight.toLocaleString('en')} files`,
  }));
}

/** Two keywords, then the indexed names by number of repositories. */
function revisionsOf(repos: readonly RepoRecord[]): Candidate[] {
  const counts = new Map<string, number>();
  for (const { revisions, defaultRevision } of repos)
    for (const name of revisions ?? [defaultRevision])
      if (name !== DEFAULT_REVISION) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [
    {
      value: DEFAULT_REVISION,
      weight: Number.POSITIVE_INFINITY,
      description: 'the default revision',
    },
    {
      value: ANY_REVISION,
      weight: Number.POSITIVE_INFINITY,
      description: 'every indexed revision',
    },
    ...[...counts].map(([value, weight]) => ({
      value,
      weight,
      description: weight === 1 ? '1 repository' : `${weight} repositories`,
    })),
  ];
}

/** Contexts with a repository visible to the caller: names of others would reveal hidden ones. */
function contextsOf(
  repos: readonly RepoRecord[],
  { connectionsOf }: EngineParts,
  { contexts = {} }: SearchEnvironment,
): Candidate[] {
  const candidates: ContextRepo[] = repos.map((repo) => contextRepoOf(repo, connectionsOf));
  return Object.entries(contexts).flatMap(([value, context]) => {
    const weight = reposOfContext(context, candidates).length;
    if (weight === 0) return [];
    const { description } = context;
    return [{ value, weight, ...omitUndefined({ description }) }];
  });
}

interface NameSource {
  readonly fileName: { readonly text: string };
  readonly repository: string;
  readonly chunks: readonly {
    readonly symbols: readonly { readonly symbol: string; readonly kind: string }[];
  }[];
}

/** Paths or symbols that contain the text; those of the best files first. */
async function findNames(
  parts: EngineParts,
  kind: 'file' | 'sym',
  text: string,
  rest: QueryNode,
  environment: SearchEnvironment,
  snapshot: Snapshot,
): Promise<Candidate[]> {
  const bounded = { ...parts, timeoutMs: SEARCH_MS, onCompleted: undefined };
  const query = kind === 'sym' || text !== '' ? bothOf(nameNode(kind, text), rest) : rest;
  const { files } = await completeSearch(bounded, { ...OPTIONS, query }, environment, snapshot);
  const found = parseFiles<NameSource>(files);
  return kind === 'file' ? found.map(fileCandidate) : found.flatMap(symbolCandidates);
}

function nameNode(prefix: 'file' | 'sym', text: string): QueryNode {
  const pattern = text === '' ? '.' : quotePattern(text);
  const tree = parseRegex(pattern, { position: 0, isFolded: true });
  return { kind: 'pattern', prefix, pattern, tree, position: 0 };
}

function fileCandidate({ fileName, repository }: NameSource): Candidate {
  return { value: fileName.text, description: repository, weight: 0 };
}

function symbolCandidates({ fileName, chunks }: NameSource): Candidate[] {
  return chunks.flatMap(({ symbols }) =>
    symbols.map(({ symbol, kind }) => ({
      value: symbol,
      description: `${kind}, ${fileName.text}`,
      weight: 0,
    })),
  );
}

/** How a value contains the typed text; `lastPart`, `part`: at the start of one; `inside`: in a part. */
const RANKS = { equal: 0, start: 1, lastPart: 2, part: 3, inside: 4, none: 5 };

function rankOf(value: string, typed: string): number {
  const [whole, typedLower] = [value.toLowerCase(), typed.toLowerCase()];
  if (whole === typedLower) return RANKS.equal;
  if (whole.startsWith(typedLower)) return RANKS.start;
  if (whole.slice(whole.lastIndexOf('/') + 1).startsWith(typedLower)) return RANKS.lastPart;
  const at = whole.indexOf(typedLower);
  if (at < 0) return RANKS.none;
  return /[\p{L}\p{N}]/u.test(whole[at - 1]!) ? RANKS.inside : RANKS.part;
}

/** Each value once; ties keep their order. @param exactValue  the value that comes first */
function best(
  candidates: readonly Candidate[],
  typed: string,
  limit: number,
  exactValue?: string,
): Suggestion[] {
  const ranked = candidates
    .map((one) => ({
      one,
      rank: one.value === exactValue ? RANKS.equal : rankOf(one.value, typed),
    }))
    .sort((a, b) => a.rank - b.rank || compareWeights(b.one.weight, a.one.weight));
  const byValue = new Map<string, Suggestion>();
  for (const { one } of ranked) {
    if (byValue.size === limit) break;
    const { weight: _, ...suggestion } = one;
    if (!byValue.has(one.value)) byValue.set(one.value, suggestion);
  }
  return [...byValue.values()];
}

function compareWeights(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
