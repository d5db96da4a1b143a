// Search contexts (API.md 19.5): which repositories belong to one. Callers pass in only visible repositories.

import { globTest } from '../base/glob-test.ts';
import type { ContextSettings } from '../base/config/file-schema.ts';

/** By name, as configured. */
export type SearchContexts = Readonly<Record<string, ContextSettings>>;

export interface ContextRepo {
  readonly name: string;
  readonly connections: readonly string[];
  readonly topics: readonly string[];
}

type RepoTest = (repo: ContextRepo) => boolean;

/** Created once per configured context. */
const tests = new WeakMap<ContextSettings, RepoTest>();

/** Those of `repos` that an include of the context matches and no exclude does, in order. */
export function reposOfContext<Repo extends ContextRepo>(
  context: ContextSettings,
  repos: readonly Repo[],
): Repo[] {
  let test = tests.get(context);
  if (test === undefined) tests.set(context, (test = testOf(context)));
  return repos.filter(test);
}

function testOf(context: ContextSettings): RepoTest {
  const { include, includeConnections, includeTopics } = context;
  const { exclude, excludeConnections, excludeTopics } = context;
  const isIncluded = matcherOf(include, includeConnections, includeTopics);
  const isExcluded = matcherOf(exclude, excludeConnections, excludeTopics);
  return (repo) => isIncluded(repo) && !isExcluded(repo);
}

function matcherOf(
  globs: readonly string[],
  connections: readonly string[],
  topics: readonly string[],
): RepoTest {
  const hasName = globTest(globs);
  const selected = new Set(connections);
  const lowered = new Set(topics.map((topic) => topic.toLowerCase()));
  return (repo) =>
    hasName(repo.name) ||
    // Why the sizes: listing them costs something.
    (selected.size > 0 && repo.connections.some((connection) => selected.has(connection))) ||
    (lowered.size > 0 && repo.topics.some((topic) => lowered.has(topic.toLowerCase())));
}
