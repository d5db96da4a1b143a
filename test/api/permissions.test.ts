// Permissions of all endpoints, against a model: who may call what (API.md 2.5, 3, 4), and which repositories each
// caller sees (4.7). The endpoints come from the router, and a valid request of each is made from its schemas; an
// endpoint whose parameter has no value here fails. A hidden repository is answered like a missing one.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { z } from 'zod';
import { ENTITLEMENTS, type Entitlement } from '../../daemon/accounts/licence.ts';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import type { Endpoint } from '../../daemon/api/shapes/endpoint.ts';
import { findControlPath } from '../../daemon/base/config/control-path.ts';
import { HOUR_MS } from '../../daemon/base/durations.ts';
import { createLog } from '../../daemon/base/log.ts';
import { servedEndpoints } from '../../daemon/http/server.ts';
import { canSee, type RepoAccess } from '../../daemon/repos/repo-access.ts';
import { ENFORCEMENTS, VISIBILITIES, type RepoRecord } from '../../daemon/repos/records.ts';
import { credentialHeaders, PASSWORD, startAccounts } from '../accounts/world.ts';
import type { AccountsWorld } from '../accounts/world.ts';
import { replyTo, type RawCall, type RawReply } from '../http/raw-client.ts';
import { answerOf, FINAL_EVENT } from '../http/answers.ts';
import { closeLater, closeWorlds, eventStream, repo, startWorld } from '../http/harness.ts';
import type { World, WorldOptions } from '../http/harness.ts';
import { sendInProcess } from '../http/in-process.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { clientOf, tokensFor } from './oauth/flow.ts';

afterEach(closeWorlds);

const NO_KEY = `svk_${'0'.repeat(64)}`;
const LOG = createLog({ level: 'error', format: 'text', write: () => {} });
/** Logging out ends the session, so it comes last. */
const ALL: readonly Endpoint[] = [...servedEndpoints('0', LOG)].sort(
  (a, b) => Number(a.path.endsWith('/logout')) - Number(b.path.endsWith('/logout')),
);

/** One of each visibility and enforcement: the ids are 101 to 112. */
const REPOS: readonly RepoRecord[] = VISIBILITIES.flatMap((visibility) =>
  ENFORCEMENTS.map((enforcement) => ({ visibility, enforcement })),
).map(({ visibility, enforcement }, index) =>
  repo(101 + index, `host/r${101 + index}`, {
    visibility,
    ...(enforcement === 'none' ? {} : { enforcement }),
  }),
);
const UNKNOWN = { repoId: 199, name: 'host/r199' };
/** Hidden from members without a grant. */
const OF_MEMBER = [108, 112];
const OF_EVERYONE = 103;

interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly source:
    'none' | 'local' | 'session' | 'api_key' | 'scoped_access_token' | 'oauth' | 'operator';
  readonly role?: 'OWNER' | 'MEMBER';
  readonly granted?: readonly number[];
  /** Of a scoped token. */
  readonly scope?: readonly number[];
}

interface Rules {
  readonly isAnonymous: boolean;
  readonly entitlements: readonly Entitlement[];
}

/** Whether the caller sees the repo (API.md 4.7). */
function sees(caller: Caller, { entitlements, isAnonymous }: Rules, one: RepoRecord): boolean {
  const { repoId, visibility, enforcement } = one;
  const isNobody = caller.source === 'none';
  if (isNobody && !isAnonymous) return false;
  if (caller.scope?.includes(repoId) === false) return false;
  if (caller.role === 'OWNER' || enforcement === undefined) return true;
  if (enforcement === 'restricted' && visibility === 'public') return true;
  const isMember = caller.role !== undefined;
  if (enforcement === 'restricted' && visibility === 'internal' && isMember) return true;
  const granted = [...(caller.granted ?? []), OF_EVERYONE];
  return (
    caller.source !== 'local' && entitlements.includes('permissions') && granted.includes(repoId)
  );
}

/** Endpoints of the OAuth server, which refuse in its own form. */
const OF_CLIENTS = /^\/(?:api\/ee\/oauth\/|oauth\/authorize$|register$)/;

/** The code that refuses the caller, whatever the request is about (API.md 2.5: 8, 10, 11). */
function refusalOf(caller: Caller, rules: Rules, endpoint: Endpoint): string | undefined {
  const { access, allowsAnonymous, isForLocal, isForOperator, isForTools } = endpoint;
  const entitlement = OF_CLIENTS.test(endpoint.path) ? 'oauth' : endpoint.entitlement;
  const { source, role, headers } = caller;
  const lacks = entitlement !== undefined && !rules.entitlements.includes(entitlement);
  // The operator needs no licence (4.9); the OAuth server needs one.
  if (lacks && (source !== 'operator' || access === 'none')) return 'INSUFFICIENT_PERMISSIONS';
  if (access === 'none' || allowsAnonymous === true) return undefined;
  // At the tool server an old credential makes no guest.
  const isGuest = rules.isAnonymous && !(isForTools === true && 'authorization' in headers);
  if (access === 'opt') return source === 'none' && !isGuest ? 'NOT_AUTHENTICATED' : undefined;
  if (source === 'operator')
    return isForOperator === true || access === 'owner' || access === 'operator'
      ? undefined
      : 'NOT_AUTHENTICATED';
  if (role === undefined)
    return source === 'local' && isForLocal === true ? undefined : 'NOT_AUTHENTICATED';
  const isRight = {
    user: true,
    session: source === 'session',
    key: source === 'api_key',
    owner: role === 'OWNER' && source !== 'scoped_access_token',
    operator: false,
  }[access];
  return isRight ? undefined : 'INSUFFICIENT_PERMISSIONS';
}

/** Values of parameters, whatever the endpoint. */
const WORDS: Readonly<Record<string, unknown>> = {
  base: 'HEAD~1',
  connectionId: '1',
  connectionIds: [1],
  currentPassword: 'wrong',
  decision: 'deny',
  email: 'new@example.com',
  file: 'none',
  head: 'HEAD',
  id: '0'.repeat(64),
  jobId: 'none',
  key: 'none',
  kind: 'file',
  matches: 1,
  name: 'name',
  newPassword: PASSWORD,
  password: PASSWORD,
  path: 'a.txt',
  paths: [],
  prefix: 'a',
  query: 'plum',
  queue: 'repo-index',
  ref: 'HEAD',
  repos: ['none'],
  rest: 'none',
  revisionName: 'HEAD',
  section: 'keys',
  token: 'none',
  userId: 'nobody',
  withIndex: false,
};

type Values = Readonly<Record<string, unknown>>;

/** Values of a part of the input: of required parameters, and of those in `about`. */
function valuesOf(schema: z.ZodType | undefined, about: Values): Record<string, unknown> {
  if (!(schema instanceof z.ZodObject)) return {};
  const needed = Object.entries(schema.shape).filter(
    ([name, type]) => name in about || !z.object({ [name]: type }).safeParse({}).success,
  );
  return Object.fromEntries(
    needed.map(([name]) => {
      const value = about[name] ?? WORDS[name];
      assert.notEqual(value, undefined, `no value for the parameter ${name}`);
      return [name, value];
    }),
  );
}

function aboutRepo({ repoId, name }: Pick<RepoRecord, 'repoId' | 'name'>): Values {
  return {
    repo: name,
    repoName: name,
    repoId: String(repoId),
    repoIds: [repoId],
    symbolName: 'plum',
  };
}

/** Sends a valid request about a repo. */
function call(world: World, caller: Caller, endpoint: Endpoint, about: Values): Promise<RawReply> {
  const { method, input } = endpoint;
  const inPath = valuesOf(input.path, about);
  const address = endpoint.path.replaceAll(/\{(\w+)\}|\*(\w+)/g, (_, one, rest) =>
    String(inPath[one ?? rest]),
  );
  const query = new URLSearchParams(valuesOf(input.query, about) as Record<string, string>);
  const body = input.body === undefined ? undefined : JSON.stringify(valuesOf(input.body, about));
  const path = query.size === 0 ? address : `${address}?${query.toString()}`;
  return send(world, caller, { method, path, body });
}

/** The operator's requests come through the control socket. */
function send(world: World, { source, headers }: Caller, call: RawCall): Promise<RawReply> {
  if (source !== 'operator') return sendInProcess(world.server, { ...call, headers });
  const { body, method, path } = call;
  const socketPath = findControlPath(world.configuration.dataDir);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return replyTo(request({ socketPath, agent: false, method, path, headers: length }), body);
}

const REFUSALS = new Set(['NOT_AUTHENTICATED', 'INSUFFICIENT_PERMISSIONS']);

async function checkAccess(world: World, caller: Caller, rules: Rules): Promise<void> {
  for (const endpoint of ALL) {
    const reply = await call(world, caller, endpoint, aboutRepo(REPOS[0]!));
    const text = reply.status < 400 ? '' : reply.body.toString();
    const code = /"errorCode":"(\w+)"/.exec(text)?.[1] ?? '';
    const label = `${caller.name}: ${endpoint.method} ${endpoint.path}: ${text}`;
    const refusal = REFUSALS.has(code) ? code : undefined;
    assert.equal(refusal, refusalOf(caller, rules, endpoint), label);
  }
}

/** Endpoints with a repo among their parameters. */
const OF_ONE = ALL.filter(
  ({ access, input }) =>
    access !== 'owner' &&
    access !== 'operator' &&
    Object.values(input).some((part) =>
      Object.keys(valuesOf(part, aboutRepo(UNKNOWN))).some((name) => name.startsWith('repo')),
    ),
);

/** An answer about a repo without its name and id. */
function unnamed(reply: RawReply, { repoId, name }: Pick<RepoRecord, 'repoId' | 'name'>): string {
  const text = reply.body.toString().replaceAll(name, 'NAME');
  return `${reply.status} ${text.replaceAll(new RegExp(`\\b${repoId}\\b`, 'g'), 'ID')}`;
}

async function checkVisibility(world: World, caller: Caller, rules: Rules): Promise<void> {
  const visible = REPOS.filter((one) => sees(caller, rules, one));
  for (const endpoint of OF_ONE) {
    if (refusalOf(caller, rules, endpoint) !== undefined) continue;
    const nothing = unnamed(await call(world, caller, endpoint, aboutRepo(UNKNOWN)), UNKNOWN);
    for (const one of REPOS) {
      const answer = unnamed(await call(world, caller, endpoint, aboutRepo(one)), one);
      const label = `${caller.name}: ${endpoint.path}: ${JSON.stringify(one)}: ${answer}`;
      assert.equal(answer !== nothing, visible.includes(one), label);
    }
  }
  for (const access of accesses)
    assert.deepEqual(
      REPOS.filter(({ repoId }) => canSee(access, repoId)),
      visible,
      caller.name,
    );
  const { status, body } = await send(world, caller, { path: '/api/repos' });
  if (caller.source === 'none' && !rules.isAnonymous) return;
  assert.equal(status, 200);
  const listed = JSON.parse(body.toString()) as { repoName: string }[];
  assert.deepEqual(
    listed.map(({ repoName }) => repoName),
    visible.map(({ name }) => name),
    caller.name,
  );
}

/** What searches of the caller at hand may see. */
const accesses: RepoAccess[] = [];

const NOTES: Partial<WorldOptions> = {
  repos: REPOS,
  search: async (_, { repoAccess }) => {
    accesses.push(repoAccess);
    return answerOf();
  },
  stream: (_, { repoAccess }) => {
    accesses.push(repoAccess);
    return eventStream([FINAL_EVENT]);
  },
  navigate: async (_, { repoName }, { repoAccess }) => {
    accesses.push(repoAccess);
    const isFound = REPOS.some(
      ({ name, repoId }) => name === repoName && canSee(repoAccess, repoId),
    );
    return { ...answerOf(), stats: { matchCount: Number(isFound) } };
  },
};

async function checkAll(world: World, callers: readonly Caller[], rules: Rules): Promise<void> {
  for (const caller of callers) {
    accesses.length = 0;
    // Without guests, people see the same.
    if (rules.isAnonymous || caller.source === 'local') await checkVisibility(world, caller, rules);
    await checkAccess(world, caller, rules);
  }
}

/** The operator, people with every credential, and those whose credentials are no longer valid. */
async function callersOf(world: AccountsWorld, { entitlements }: Rules): Promise<Caller[]> {
  const { accounts } = world.control;
  const former = async (email: string, end: (id: string) => Promise<unknown>) => {
    const { person } = await accounts.members.add(OPERATOR, { email, role: 'OWNER' });
    const { value } = await accounts.keys.create(OPERATOR, person, 'key');
    await end(person.id);
    return { headers: credentialHeaders(value), source: 'none' } as const;
  };
  closeLater(await world.server.openControl());
  const callers: Caller[] = [
    { name: 'operator', headers: {}, source: 'operator', role: 'OWNER' },
    { name: 'nobody', headers: {}, source: 'none' },
    { name: 'an unknown key', headers: credentialHeaders(NO_KEY), source: 'none' },
    {
      name: 'a removed owner',
      ...(await former('removed@example.com', (id) => accounts.members.remove(OPERATOR, id))),
    },
    {
      name: 'a suspended owner',
      ...(await former('suspended@example.com', (id) =>
        accounts.members.change(OPERATOR, id, { suspended: true }),
      )),
    },
  ];
  await accounts.grants.add(OPERATOR, world.member.id, OF_MEMBER);
  const scopedToken = async (key: string, repoIds: readonly number[]): Promise<string> => {
    const made = await world.send('POST', '/api/ee/scoped_access_token', key, { repoIds });
    return (made.json() as { token: string }).token;
  };
  if (entitlements.includes('scoped-tokens')) {
    const headers = credentialHeaders(await scopedToken(world.ownerKey, [101]));
    world.clock.nowMs += HOUR_MS;
    callers.push({ name: 'an expired scoped token', headers, source: 'none' });
  }
  for (const role of ['OWNER', 'MEMBER'] as const) {
    const key = role === 'OWNER' ? world.ownerKey : world.memberKey;
    const more = { role, ...(role === 'MEMBER' ? { granted: OF_MEMBER } : {}) };
    const add = (source: Caller['source'], value: string, scope?: readonly number[]) =>
      callers.push({
        name: `${role}: ${source}`,
        headers: { ...credentialHeaders(value), origin: world.origin() },
        source,
        ...more,
        ...(scope === undefined ? {} : { scope }),
      });
    add('api_key', key);
    const cookie = await world.signIn(`${role.toLowerCase()}@example.com`);
    if (entitlements.includes('oauth'))
      add('oauth', (await tokensFor(world, cookie, await clientOf(world))).access);
    add('session', cookie);
    if (!entitlements.includes('scoped-tokens')) continue;
    const scope = role === 'OWNER' ? [101, 112] : [101, 104, 112];
    add('scoped_access_token', await scopedToken(key, scope), scope);
  }
  return callers;
}

for (const [name, isAnonymous, entitlements] of [
  ['licensed', false, ENTITLEMENTS],
  ['licensed, with guests', true, ENTITLEMENTS],
  ['without a licence, with guests', true, []],
] as const) {
  test(`each caller, each endpoint, each repository: ${name}`, async () => {
    const file = path.join(temporaryFolder(), 'trawl.json');
    const grants = [{ to: ['everyone'], repos: [`host/r${OF_EVERYONE}`] }];
    writeFileSync(file, JSON.stringify({ permissions: { grants } }));
    const env = { TRAWL_ANONYMOUS_ACCESS: String(isAnonymous), TRAWL_CONFIG: file };
    const world = await startAccounts({ ...NOTES, env, entitlements });
    const rules = { isAnonymous, entitlements };
    await checkAll(world, await callersOf(world, rules), rules);
  });
}

test('before the first account, callers of this machine', async () => {
  const world = await startWorld(NOTES);
  const caller: Caller = { name: 'local', headers: {}, source: 'local' };
  await checkAll(world, [caller], { isAnonymous: false, entitlements: [] });
});
