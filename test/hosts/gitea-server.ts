// A server with the part of the Gitea API that we use; its answers have the types that gitea-js generates from the
// API description of Gitea.

import type { TestContext } from 'node:test';
import type { Organization, Repository, User } from 'gitea-js';
import { startServer, type Requested, type RunningServer, type StandInReply } from './servers.ts';

export interface FakeGiteaRepository {
  readonly id: number;
  readonly path: string;
  readonly isPrivate?: boolean;
  readonly more?: Partial<Repository>;
}

export interface GiteaState {
  /** By their ids. */
  repositories: FakeGiteaRepository[];
  /** Names of owners and their ids; visibility of those that are not for all. */
  readonly orgs: Readonly<Record<string, number>>;
  readonly users: Readonly<Record<string, number>>;
  readonly visibility: Readonly<Record<string, 'limited' | 'private'>>;
  readonly token: string;
  /** Whether who does not sign in sees nothing. */
  isClosed?: boolean;
  /** How many repositories it sends at most. */
  pageSizeMax?: number;
  /** Whether it counts all that it has. */
  hasNoCount?: boolean;
  instead?: (requested: Requested) => StandInReply | undefined;
}

export interface GiteaServer extends RunningServer {
  readonly state: GiteaState;
}

export async function startGitea(
  t: Pick<TestContext, 'after'>,
  changes: Partial<GiteaState>,
): Promise<GiteaServer> {
  const state = giteaState(changes);
  const server = await startServer(
    t,
    (requested) => state.instead?.(requested) ?? answerAsGitea(requested, state),
  );
  return { ...server, state };
}

export function giteaState(state: Partial<GiteaState>): GiteaState {
  return {
    repositories: [],
    orgs: { acme: 101 },
    users: { ann: 1, bob: 2 },
    visibility: {},
    token: 'the-token',
    ...state,
  };
}

export function giteaRefusal(status: number, message: string): StandInReply {
  return { status, body: { message, url: 'https://gitea.example/api/swagger' } };
}

export function answerAsGitea(requested: Requested, state: GiteaState): StandInReply {
  const url = `http://${requested.headers.host}`;
  const { authorization } = requested.headers;
  const isSignedIn = authorization === `token ${state.token}`;
  if (authorization !== undefined && !isSignedIn)
    return giteaRefusal(401, 'user does not exist [uid: 0, name: ]');
  if (state.isClosed && !isSignedIn)
    return giteaRefusal(403, 'Only signed in user is allowed to call APIs.');
  const [, , version, kind, ...names] = requested.path.split('/').map(decodeURIComponent);
  if (version !== 'v1') return { status: 404, body: '404 page not found\n' };
  const own = state.repositories.filter(({ isPrivate }) => isSignedIn || isPrivate !== true);
  switch (kind) {
    case 'version':
      return { body: { version: '1.23.1' } };
    case 'user':
      return isSignedIn ? { body: userOf('ann', 1) } : giteaRefusal(401, 'token is required');
    case 'orgs':
      return ownerOf(state.orgs, names[0]!, orgOf);
    case 'users':
      return ownerOf(state.users, names[0]!, userOf);
    case 'repos':
      return names[0] === 'search'
        ? search(state, requested, own, url)
        : one(state, own, names, url);
    default:
      return giteaRefusal(404, `no route ${requested.path}`);
  }
}

function ownerOf(
  owners: Readonly<Record<string, number>>,
  name: string,
  shape: (name: string, id: number) => object,
): StandInReply {
  const id = owners[name.toLowerCase()];
  return id === undefined
    ? giteaRefusal(404, 'user redirect does not exist')
    : { body: shape(name, id) };
}

function one(
  state: GiteaState,
  own: readonly FakeGiteaRepository[],
  names: readonly string[],
  url: string,
): StandInReply {
  const found = own.find(({ path }) => path.toLowerCase() === names.join('/').toLowerCase());
  if (found === undefined) return giteaRefusal(404, "The target couldn't be found.");
  return { body: shapeOf(state, found, url) };
}

/** In the requested order; by default by name, and by the last push. */
function search(
  state: GiteaState,
  { query }: Requested,
  own: readonly FakeGiteaRepository[],
  url: string,
): StandInReply {
  const uid = Number(query.get('uid') ?? 0);
  const owners = { ...state.orgs, ...state.users };
  const ofOwner = own.filter(({ path }) => uid === 0 || owners[path.split('/')[0]!] === uid);
  const inOrder = query.get('sort') === 'id' && query.get('order') === 'asc';
  const all = inOrder ? ofOwner : [...ofOwner].reverse();
  const size = Math.min(Number(query.get('limit') ?? 30), state.pageSizeMax ?? 50);
  const page = Number(query.get('page') ?? 1);
  const data = all.slice((page - 1) * size, page * size).map((found) => shapeOf(state, found, url));
  const headers = state.hasNoCount ? {} : { 'x-total-count': String(all.length) };
  return { headers, body: { ok: true, data } };
}

function shapeOf(
  state: GiteaState,
  { id, path, isPrivate, more }: FakeGiteaRepository,
  url: string,
): Repository {
  const [owner = '', name = ''] = path.split('/');
  return {
    id,
    owner: { ...userOf(owner, 1), visibility: state.visibility[owner] ?? 'public' },
    name,
    full_name: path,
    description: 'What it is for',
    empty: false,
    private: isPrivate ?? false,
    fork: false,
    template: false,
    mirror: false,
    size: 24,
    archived: false,
    html_url: `http://elsewhere.example/${path}`,
    clone_url: `http://elsewhere.example/${path}.git`,
    ssh_url: `git@elsewhere.example:${path}.git`,
    url: `${url}/api/v1/repos/${path}`,
    default_branch: 'main',
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2026-11-02T11:12:13+01:00',
    internal: false,
    avatar_url: '',
    topics: [],
    ...more,
  };
}

function userOf(login: string, id: number): User {
  return {
    id,
    login,
    full_name: '',
    email: `${login}@noreply.example`,
    avatar_url: `https://avatars.example/${login}`,
  };
}

function orgOf(name: string, id: number): Organization {
  return {
    id,
    name,
    username: name,
    visibility: 'public',
    avatar_url: `https://avatars.example/${name}`,
  };
}
