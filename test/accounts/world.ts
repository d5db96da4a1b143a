// A server with accounts for tests: a clock that only tests move, a licence with all entitlements by default, an
// owner and a member with API keys, sessions by real sign-in.

import assert from 'node:assert/strict';
import type { Person } from '../../daemon/accounts/caller.ts';
import { ENTITLEMENTS, type Entitlement } from '../../daemon/accounts/licence.ts';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { startWorld, type Reply, type World, type WorldOptions } from '../http/harness.ts';
import { CLAIMS, DAY_MS, HEADER, NOW_MS, NOW_SECONDS, PAIR, token } from './licences.ts';

export const PASSWORD = 'correct horse battery';
const ORIGIN_PATH = '/api/auth/login';

export interface AccountsWorld extends World {
  clock: { nowMs: number };
  readonly owner: Person;
  readonly member: Person;
  readonly ownerKey: string;
  readonly memberKey: string;
  /** Calls and parses; `as` is an API key, a token, a session cookie or nobody. */
  readonly send: (
    method: string,
    path: string,
    as?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Reply & { readonly code: unknown }>;
  readonly signIn: (email: string, password?: string) => Promise<string>;
  readonly origin: () => string;
  /** Ids of the repositories that a caller is listed, in their order. */
  readonly repoIds: (as?: string) => Promise<number[]>;
}

export interface AccountsOptions extends Omit<WorldOptions, 'now'> {
  readonly entitlements?: readonly Entitlement[] | 'none';
  readonly seats?: number;
  readonly nowMs?: number;
}

export function licenceKey(entitlements: readonly Entitlement[], seats?: number): string {
  return token(HEADER, { ...CLAIMS, exp: NOW_SECONDS + (30 * DAY_MS) / 1000, entitlements, seats });
}

/** The headers that present a credential. */
export function credentialHeaders(as: string | undefined): Record<string, string> {
  if (as === undefined) return {};
  return as.startsWith('trawl_session=') ? { cookie: as } : { authorization: `Bearer ${as}` };
}

export async function startAccounts(options: AccountsOptions = {}): Promise<AccountsWorld> {
  const { entitlements = ENTITLEMENTS, seats, nowMs = NOW_MS, env, ...rest } = options;
  const clock = { nowMs };
  const world = await startWorld({
    ...rest,
    now: () => clock.nowMs,
    env: {
      TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
      ...(entitlements === 'none' ? {} : { TRAWL_LICENSE_KEY: licenceKey(entitlements, seats) }),
      ...env,
    },
  });
  const { accounts } = world.control;
  const makePerson = async (email: string, role: 'OWNER' | 'MEMBER'): Promise<Person> => {
    const { person } = await accounts.members.add(OPERATOR, { email, role });
    await accounts.signIn.setPassword(person.id, PASSWORD);
    return person;
  };
  const owner = await makePerson('owner@example.com', 'OWNER');
  const member = await makePerson('member@example.com', 'MEMBER');
  const keyOf = async (person: Person): Promise<string> =>
    (await accounts.keys.create(OPERATOR, person, 'first')).value;
  const origin = (): string => new URL(world.server.url).origin;
  const send: AccountsWorld['send'] = async (method, path, as, body, headers = {}) => {
    const reply = await world.call({
      method,
      path,
      headers: { ...credentialHeaders(as), origin: origin(), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const isJson = reply.headers['content-type']?.startsWith('application/json') === true;
    return Object.assign(reply, {
      code: isJson && reply.body.length > 0 ? reply.json()['errorCode'] : undefined,
    });
  };
  return Object.assign(world, {
    clock,
    owner,
    member,
    ownerKey: await keyOf(owner),
    memberKey: await keyOf(member),
    send,
    origin,
    async repoIds(as?: string) {
      const list = (await send('GET', '/api/repos', as)).json() as unknown as { repoId: number }[];
      return list.map(({ repoId }) => repoId);
    },
    async signIn(email: string, password = PASSWORD) {
      const reply = await send('POST', ORIGIN_PATH, undefined, { email, password });
      assert.equal(reply.status, 200, reply.body.toString());
      return cookieOf(reply);
    },
  });
}

/** The cookie that a reply sets, as a browser sends it back. */
export function cookieOf(reply: Reply): string {
  const [cookie] = reply.headers['set-cookie'] ?? [];
  assert.ok(cookie !== undefined, 'a cookie is set');
  return cookie.split(';')[0]!;
}
