// A stand-in for GitLab: projects, groups, users and members in the shapes of its REST API (reference: Projects, Groups, Users
// and Members API of GitLab 18), with its paging and its order, for callers with and without a token.

import type { Requested, StandInReply } from './servers.ts';

export interface GitLabProject {
  readonly id: number;
  readonly path_with_namespace: string;
  readonly visibility: 'public' | 'internal' | 'private';
  readonly topics: readonly string[];
  readonly archived: boolean;
  readonly repository_access_level: 'enabled' | 'private' | 'disabled';
  readonly namespace: { readonly kind: 'group' | 'user'; readonly full_path: string };
  readonly forked_from_project?: { readonly id: number };
  /** Left out: the caller may not read the code. */
  readonly default_branch?: string | null;
  readonly last_activity_at: string;
  readonly avatar_url: string | null;
}

/** A private project. */
export function projectOf(
  id: number,
  path: string,
  more: Partial<GitLabProject> = {},
): GitLabProject {
  return {
    id,
    path_with_namespace: path,
    visibility: 'private',
    topics: [],
    archived: false,
    repository_access_level: 'enabled',
    namespace: { kind: 'group', full_path: path.split('/').slice(0, -1).join('/') },
    default_branch: 'main',
    last_activity_at: '2026-11-20T10:00:00.000Z',
    avatar_url: null,
    ...more,
  };
}

export interface GitLabMember {
  readonly id: number;
  readonly state: string;
  /** Default: `active`. */
  readonly membership_state?: 'active' | 'awaiting';
  readonly access_level: number;
  readonly email: string | null;
  readonly confirmed_at: string | null;
}

export interface GitLabWorld {
  readonly token: string;
  /** Groups and users that there are. */
  readonly groups: readonly string[];
  readonly users: readonly string[];
  projects: readonly GitLabProject[];
  readonly members?: readonly GitLabMember[];
  readonly isAdmin?: boolean;
}

export function answerAsGitLab(requested: Requested, world: GitLabWorld): StandInReply {
  const { authorization } = requested.headers;
  if (authorization !== undefined && authorization !== `Bearer ${world.token}`)
    return { status: 401, body: { message: '401 Unauthorized' } };
  const isSignedIn = authorization !== undefined;
  const visible = world.projects.filter(({ visibility }) => isSignedIn || visibility === 'public');
  const [, area, id = '', ...rest] = requested.path
    .replace('/api/v4', '')
    .split('/')
    .map(decodeURIComponent);
  const below = (owner: string) => (project: GitLabProject) => {
    const { full_path: path } = project.namespace;
    const isDeep = requested.query.get('include_subgroups') === 'true';
    return path === owner || (isDeep && path.startsWith(`${owner}/`));
  };
  if (area === 'user')
    return isSignedIn ? { body: { id: 1, username: 'bot', state: 'active' } } : NOBODY;
  if (area === 'groups' && world.groups.includes(id))
    return pageOf(requested, visible.filter(below(id)), isSignedIn);
  if (area === 'users' && rest.length > 0 && world.users.includes(id))
    return pageOf(requested, visible.filter(below(id)), isSignedIn);
  if (area === 'users' && rest.length === 0) return userAnswer(Number(id), world);
  if (area === 'projects' && id === '') return pageOf(requested, visible, isSignedIn);
  if (area === 'projects' && rest.join('/') === 'members/all') return memberPage(requested, world);
  const one = visible.find(
    ({ id: number, path_with_namespace: path }) =>
      area === 'projects' && [path, String(number)].includes(id),
  );
  return one === undefined
    ? { status: 404, body: { message: `404 ${area} Not Found` } }
    : { body: fullOf(one) };
}

const NOBODY: StandInReply = { status: 401, body: { message: '401 Unauthorized' } };

function pageOf(
  requested: Requested,
  projects: readonly GitLabProject[],
  isSignedIn: boolean,
): StandInReply {
  const { query } = requested;
  const after = Number(query.get('id_after') ?? 0);
  const archived = query.get('archived');
  const all = projects
    .filter((project) => project.id > after)
    .filter((project) => archived === null || String(project.archived) === archived)
    .sort((a, b) => (query.get('order_by') === 'id' ? 1 : -1) * (a.id - b.id));
  return paged(requested, all, (some) => some.map(isSignedIn ? fullOf : simpleOf));
}

/** By number, 20 to a page by default, 100 at most. */
function paged<Item>(
  requested: Requested,
  all: readonly Item[],
  displayed: (some: Item[]) => unknown,
): StandInReply {
  const page = Number(requested.query.get('page') ?? 1);
  const size = Math.min(100, Number(requested.query.get('per_page') ?? 20));
  const hasNext = page * size < all.length;
  const query = new URLSearchParams(requested.query);
  query.set('page', String(page + 1));
  const next = `http://${requested.headers.host}${requested.path}?${query.toString()}`;
  return {
    body: displayed(all.slice((page - 1) * size, page * size)),
    headers: {
      'x-page': String(page),
      'x-per-page': String(size),
      'x-next-page': hasNext ? String(page + 1) : '',
      'x-prev-page': page > 1 ? String(page - 1) : '',
      'x-total': String(all.length),
      'x-total-pages': String(Math.ceil(all.length / size)),
      ...(hasNext ? { link: `<${next}>; rel="next"` } : {}),
      'ratelimit-limit': '2000',
      'ratelimit-remaining': '1999',
      'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 60),
    },
  };
}

function simpleOf(project: GitLabProject) {
  const { id, path_with_namespace: whole, namespace } = project;
  const path = whole.split('/').at(-1) ?? '';
  return {
    id,
    name: path,
    path,
    path_with_namespace: whole,
    created_at: '2026-01-02T03:04:05.678Z',
    ...(project.default_branch === undefined ? {} : { default_branch: project.default_branch }),
    topics: project.topics,
    // GitLab may report another address of itself than the requested one.
    http_url_to_repo: `https://gitlab.internal.example/${whole}.git`,
    web_url: `https://gitlab.internal.example/${whole}`,
    avatar_url: project.avatar_url,
    last_activity_at: project.last_activity_at,
    namespace: { id: 7, ...namespace, parent_id: null },
  };
}

function fullOf(project: GitLabProject) {
  return {
    ...simpleOf(project),
    visibility: project.visibility,
    archived: project.archived,
    repository_access_level: project.repository_access_level,
    ...(project.forked_from_project === undefined
      ? {}
      : { forked_from_project: project.forked_from_project }),
  };
}

function memberPage(requested: Requested, { members = [] }: GitLabWorld): StandInReply {
  return paged(requested, members, (some) =>
    some.map(({ id, state, access_level, membership_state = 'active' }) => ({
      id,
      username: `user${id}`,
      state,
      access_level,
      membership_state,
    })),
  );
}

/** Addresses are for administrators. */
function userAnswer(id: number, { members = [], isAdmin = false }: GitLabWorld): StandInReply {
  const member = members.find((one) => one.id === id);
  if (member === undefined) return { status: 404, body: { message: '404 User Not Found' } };
  const { email, confirmed_at, state } = member;
  const person = { id, username: `user${id}`, name: `User ${id}`, state, bot: false };
  return { body: isAdmin ? { ...person, email, confirmed_at, is_admin: false } : person };
}
