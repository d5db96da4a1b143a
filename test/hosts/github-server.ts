// A server with the part of the GitHub REST API that we use, with its answer shapes (types from its OpenAPI
// document), paging, renames and errors.

import { createVerify, hash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { components } from '@octokit/openapi-types';
import { startServer, type Requested, type RunningServer, type StandInReply } from './servers.ts';

type Schemas = components['schemas'];

export interface FakeRepository {
  readonly id: number;
  readonly path: string;
  readonly visibility?: 'public' | 'internal' | 'private';
  readonly fork?: boolean;
  readonly archived?: boolean;
  readonly topics?: string[];
  /** KiB. */
  readonly size?: number;
  readonly pushedAt?: string | null;
  /** Logins and what they may. */
  readonly collaborators?: Readonly<Record<string, 'read' | 'none'>>;
  /** What it was called. */
  readonly formerPath?: string;
}

export interface FakeApp {
  readonly id: number;
  readonly publicKey: string;
  /** Owners, their installations, and which repositories these were given. */
  readonly installations: Readonly<
    Record<
      string,
      {
        readonly id: number;
        readonly repositories: readonly number[];
        readonly suspended?: boolean;
      }
    >
  >;
}

export interface GithubState {
  /** In the order of their creation. */
  repositories: FakeRepository[];
  readonly orgs: readonly string[];
  readonly users: readonly string[];
  /** Tokens by whom they are of, who sees everything; '': of nobody. */
  readonly tokens: Map<string, string>;
  readonly app?: FakeApp;
  /** How far its clock is ahead. */
  clockAheadMs?: number;
  /** Whether links name the last page. */
  hasNoLastLink?: boolean;
  /** What is answered instead. */
  instead?: (requested: Requested) => StandInReply | undefined;
}

export interface GithubServer extends RunningServer {
  readonly state: GithubState;
}

const PREFIX = '/api/v3';

export async function startGithub(
  t: Pick<TestContext, 'after'>,
  changes: Partial<GithubState>,
): Promise<GithubServer> {
  const state = githubState(changes);
  const server = await startServer(t, (requested) => {
    const reported = state.instead?.(requested) ?? answerAsGithub(requested, state);
    const date = new Date(Date.now() + (state.clockAheadMs ?? 0)).toUTCString();
    return { ...reported, headers: { date, ...reported.headers } };
  });
  return { ...server, state };
}

export function githubState(changes: Partial<GithubState>): GithubState {
  return {
    repositories: [],
    orgs: ['acme'],
    users: ['ann', 'bob'],
    tokens: new Map([['the-token', 'ann']]),
    ...changes,
  };
}

export function answerAsGithub(requested: Requested, state: GithubState): StandInReply {
  return new Answering(state, `http://${requested.headers.host}${PREFIX}`, requested).answer();
}

export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): StandInReply {
  const body = {
    message,
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  };
  return { status, headers, body };
}

const NOT_FOUND = refusal(404, 'Not Found');
const BAD_CREDENTIALS = refusal(401, 'Bad credentials');

class Answering {
  readonly #state: GithubState;
  readonly #url: string;
  readonly #requested: Requested;
  /** Undefined: nobody asks; null: a credential that does not count. */
  readonly #caller: Caller | undefined | null;

  constructor(state: GithubState, url: string, requested: Requested) {
    this.#state = state;
    this.#url = url;
    this.#requested = requested;
    this.#caller = this.#callerOf(requested.headers.authorization);
  }

  answer(): StandInReply {
    if (this.#caller === null) return BAD_CREDENTIALS;
    const { method, path } = this.#requested;
    const parts = path.slice(PREFIX.length + 1).split('/');
    const route = `${method} ${parts[0]}/${parts.length}${parts.length > 2 ? ` ${parts.at(-1)}` : ''}`;
    if (!path.startsWith(PREFIX)) return { status: 404, body: '<html>GitHub</html>' };
    switch (`${method} ${parts[0]}`) {
      case 'GET meta':
        return { body: { verifiable_password_authentication: true } };
      case 'GET app':
      case 'POST app':
        return this.#app(parts);
      case 'GET user':
        return this.#user(parts);
      case 'GET orgs':
        return this.#ofOwner(this.#state.orgs, parts[1]!, () => true);
      case 'GET users':
        return this.#ofOwner(
          this.#state.users,
          parts[1]!,
          ({ visibility }) => visibility === 'public',
        );
      case 'GET installation':
        return this.#ofInstallation();
      case 'GET repos':
        return this.#repository(parts);
      case 'GET repositories':
        return this.#found(this.#state.repositories.find(({ id }) => id === Number(parts[1])));
      default:
        return refusal(404, `no route ${route}`);
    }
  }

  #callerOf(authorization: string | undefined): Caller | undefined | null {
    if (authorization === undefined) return undefined;
    const token = authorization.replace(/^(?:bearer|token) /i, '');
    const login = this.#state.tokens.get(token);
    if (login !== undefined) return { login };
    const installation = Object.values(this.#state.app?.installations ?? {}).find(
      ({ id }) => token === `installation-${id}`,
    );
    if (installation !== undefined) return { repositoryIds: installation.repositories };
    return this.#isApp(token) ? { isApp: true } : null;
  }

  /** A token that the app has signed, not too old, not of the future. */
  #isApp(token: string): boolean {
    const [head = '', payload = '', signature = ''] = token.split('.');
    if (this.#state.app === undefined || signature === '') return false;
    const verify = createVerify('RSA-SHA256').update(`${head}.${payload}`);
    if (!verify.verify(this.#state.app.publicKey, Buffer.from(signature, 'base64url')))
      return false;
    const { iat, exp, iss } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const now = (Date.now() + (this.#state.clockAheadMs ?? 0)) / 1000;
    return iss === this.#state.app.id && iat <= now && exp > now && exp <= now + 600;
  }

  #sees({ id, visibility = 'private' }: FakeRepository): boolean {
    if (visibility === 'public') return true;
    return (
      this.#caller?.login !== undefined || (this.#caller?.repositoryIds?.includes(id) ?? false)
    );
  }

  #app(parts: readonly string[]): StandInReply {
    if (this.#caller?.isApp !== true) return refusal(401, 'A JSON web token could not be decoded');
    const { app } = this.#state;
    const all = Object.entries(app?.installations ?? {});
    if (parts.length === 1) return { body: { id: app?.id, slug: 'trawl-app', name: 'Trawl app' } };
    if (parts.length === 2)
      return this.#page(all, ([login, { id, suspended }]) => installationOf(login, id, suspended));
    const found = all.find(([, { id }]) => id === Number(parts[2]));
    if (found === undefined) return NOT_FOUND;
    if (found[1].suspended) return refusal(403, 'This installation has been suspended');
    const body: Partial<Schemas['installation-token']> = {
      token: `installation-${found[1].id}`,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      repository_selection: 'selected',
    };
    return { status: 201, body };
  }

  #user(parts: readonly string[]): StandInReply {
    const login = this.#caller?.login;
    if (login === undefined) return refusal(401, 'Requires authentication');
    if (login === '') return refusal(403, 'Resource not accessible by integration');
    if (parts.length === 1) return { body: userOf(login) };
    const own = this.#state.repositories.filter(({ path }) => path.startsWith(`${login}/`));
    return this.#page(own, (one) => this.#shape(one));
  }

  #ofOwner(
    owners: readonly string[],
    owner: string,
    isVisible: (one: FakeRepository) => boolean,
  ): StandInReply {
    if (!owners.includes(owner.toLowerCase())) return NOT_FOUND;
    const own = this.#state.repositories.filter(({ path }) =>
      path.toLowerCase().startsWith(`${owner.toLowerCase()}/`),
    );
    const displayed = own.filter((one) => isVisible(one) && this.#sees(one));
    return this.#page(displayed, (one) => this.#shape(one));
  }

  #ofInstallation(): StandInReply {
    const repositoryIds = this.#caller?.repositoryIds;
    if (repositoryIds === undefined)
      return refusal(403, 'You must authenticate with an installation access token');
    const own = this.#state.repositories.filter(({ id }) => repositoryIds.includes(id));
    const { body, ...reported } = this.#page(own, (one) => this.#shape(one));
    return { ...reported, body: { total_count: own.length, repositories: body } };
  }

  #repository([, owner = '', name = '', what]: readonly string[]): StandInReply {
    const path = `${owner}/${name}`.toLowerCase();
    const moved = this.#state.repositories.find(
      ({ formerPath }) => formerPath?.toLowerCase() === path,
    );
    if (moved !== undefined) {
      const location = `${this.#url}/repositories/${moved.id}`;
      return { ...refusal(301, 'Moved Permanently', { location }) };
    }
    const found = this.#state.repositories.find((one) => one.path.toLowerCase() === path);
    return what === 'collaborators' ? this.#collaborators(found) : this.#found(found);
  }

  #found(found: FakeRepository | undefined): StandInReply {
    return found !== undefined && this.#sees(found) ? { body: this.#shape(found) } : NOT_FOUND;
  }

  #collaborators(found: FakeRepository | undefined): StandInReply {
    if (found === undefined || !this.#sees(found)) return NOT_FOUND;
    const isAll = this.#requested.query.get('affiliation') === 'all';
    const others = { triage: false, push: false, maintain: false, admin: false };
    const all = isAll ? Object.entries(found.collaborators ?? {}) : [];
    return this.#page(all, ([login, role]) => ({
      ...userOf(login),
      permissions: { pull: role === 'read', ...others },
      role_name: role,
    }));
  }

  /** The requested page, with links to others. */
  #page<Item>(all: readonly Item[], shape: (item: Item) => object): StandInReply {
    const { query, path } = this.#requested;
    const size = Math.min(Number(query.get('per_page') ?? 30), 100);
    const page = Number(query.get('page') ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const linkTo = (number: number, rel: string): string => {
      query.set('page', String(number));
      return `<${this.#url}${path.slice(PREFIX.length)}?${query.toString()}>; rel="${rel}"`;
    };
    const links = [
      ...(page > 1 ? [linkTo(page - 1, 'prev')] : []),
      ...(page < last ? [linkTo(page + 1, 'next')] : []),
      ...(page < last && !this.#state.hasNoLastLink ? [linkTo(last, 'last')] : []),
      ...(page > 1 ? [linkTo(1, 'first')] : []),
    ];
    const headers = links.length === 0 ? {} : { link: links.join(', ') };
    return { headers, body: all.slice((page - 1) * size, page * size).map(shape) };
  }

  #shape(one: FakeRepository): object {
    const [owner = '', name = ''] = one.path.split('/');
    const { visibility = 'private', size = 10, pushedAt = '2026-11-01T10:00:00Z' } = one;
    const shape: Omit<Partial<Schemas['minimal-repository']>, 'owner'> = {
      id: one.id,
      name,
      full_name: one.path,
      private: visibility !== 'public',
      html_url: `https://elsewhere.example/${one.path}`,
      clone_url: `https://elsewhere.example/${one.path}.git`,
      description: 'What it is for',
      fork: one.fork ?? false,
      archived: one.archived ?? false,
      disabled: false,
      topics: one.topics ?? [],
      visibility,
      size,
      default_branch: 'main',
      pushed_at: pushedAt,
      created_at: '2020-01-01T00:00:00Z',
      updated_at: '2026-11-01T10:00:00Z',
      permissions: { admin: false, push: false, pull: true },
    };
    return { ...shape, owner: userOf(owner) };
  }
}

interface Caller {
  readonly login?: string;
  readonly repositoryIds?: readonly number[];
  readonly isApp?: boolean;
}

/** An id of a repository, by its name. */
export function idOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 8), 16);
}

/** Ids of accounts: their first letters. */
export function accountId(login: string): number {
  return login.codePointAt(0)! * 1000 + login.length;
}

function userOf(login: string): Partial<Schemas['simple-user']> {
  return {
    login,
    id: accountId(login),
    avatar_url: `https://avatars.example/u/${login}`,
    html_url: `https://elsewhere.example/users/${login}`,
  };
}

function installationOf(login: string, id: number, isSuspended = false): object {
  return {
    id,
    account: userOf(login),
    repository_selection: 'selected',
    app_slug: 'trawl-app',
    suspended_at: isSuspended ? '2026-01-01T00:00:00Z' : null,
  };
}
