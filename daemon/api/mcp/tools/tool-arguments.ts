// Arguments that tools share: lenient numbers and paths, the repository, pages, and notes about values above a limit.

import { z } from 'zod';
import type { RepoRecord } from '../../../repos/records.ts';
import { ApiError } from '../../shapes/api-error.ts';
import type { CallContext } from '../../shapes/endpoint.ts';
import { jsonInteger, PER_PAGE_MAX } from '../../shapes/input.ts';
import type { PageRequest } from '../../shapes/pagination.ts';

export const repoField = z
  .string()
  .exactOptional()
  .describe('Name of the repository; optional if there is only one.');

/** `./x` and `/x` are `x`. */
export function pathField(description: string) {
  return z
    .string()
    .transform((path) => path.replace(/^(?:\.?\/+)+/, '').replace(/^\.$/, ''))
    .describe(description);
}

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;

/** As models mean them: numbers and booleans may be texts; null, and an empty text of a known name, are absent. */
export function coercedArguments(args: unknown, properties: Properties): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  const isGiven = ([name, value]: [string, unknown]): boolean =>
    value !== null && (value !== '' || !Object.hasOwn(properties, name));
  const entries = Object.entries(args).filter(isGiven);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, coercedValue(value, properties[name]?.type)]),
  );
}

function coercedValue(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && /^\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true';
  return value;
}

/** Repositories that an error message lists. */
const LISTED_MAX = 5;
/** Characters of an unknown name that an error message repeats. */
const WRONG_NAME_SIZE_MAX = 100;

/** Without a name the only visible one. Errors: INVALID_REQUEST_BODY, NOT_FOUND, naming visible ones. */
export function requestedRepo(
  name: string | undefined,
  { services, repoAccess }: CallContext,
): RepoRecord {
  if (name === undefined) {
    const repos = services.repos.list(repoAccess);
    const [only, another] = repos;
    if (only !== undefined && another === undefined) return only;
    throw new ApiError('INVALID_REQUEST_BODY', `repo: required; ${someOf(repos)}`);
  }
  const repo = services.repos.byName(name, repoAccess);
  if (repo !== undefined) return repo;
  const isLong = name.length > WRONG_NAME_SIZE_MAX;
  const shortened = isLong ? `${name.slice(0, WRONG_NAME_SIZE_MAX)}…` : name;
  const some = someOf(services.repos.list(repoAccess), name);
  throw new ApiError('NOT_FOUND', `Repository "${shortened}" not found; ${some}`);
}

/** Existing repositories, those with the last segment of `name` first. */
function someOf(repos: readonly RepoRecord[], name = ''): string {
  if (repos.length === 0) return 'there is no repository yet; list_repos shows when there is one';
  const segment = (name.replace(/\/+$/, '').split('/').at(-1) ?? '').toLowerCase();
  const near = repos.filter((repo) => repo.name.toLowerCase().includes(segment));
  const listed = (near.length > 0 ? near : repos).slice(0, LISTED_MAX).map((repo) => repo.name);
  const rest = repos.length - listed.length;
  const more = rest === 0 ? '' : ` and ${rest} more, which list_repos shows`;
  return `there ${repos.length === 1 ? 'is' : 'are'} ${listed.join(', ')}${more}; call again with one as repo`;
}

/** By name, the given value and the limit, which was used instead. */
export function aboveMost(
  pairs: Readonly<Record<string, readonly [given: number, most: number]>>,
): string[] {
  return Object.entries(pairs)
    .filter(([, [value, most]]) => value > most)
    .map(([name, [value, most]]) => `(${name} ${value} is above the limit, ${most} was used)`);
}

export function pageArguments(perPage: number) {
  return {
    page: jsonInteger(1).default(1),
    perPage: jsonInteger(1)
      .refine((value) => value <= PER_PAGE_MAX, { error: `expected at most ${PER_PAGE_MAX}` })
      .default(perPage)
      .describe(`Entries, at most ${PER_PAGE_MAX}.`),
  };
}

export function partOf(
  list: { readonly totalCount: number; readonly [name: string]: unknown },
  { page, perPage }: PageRequest,
): string {
  const isLast = page * perPage >= list.totalCount;
  return JSON.stringify(isLast ? list : { ...list, nextPage: page + 1 });
}
