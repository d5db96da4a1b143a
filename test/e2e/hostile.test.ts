// A real daemon under requests made from its own description, on both HTTP servers: each is answered as described,
// never with an internal error, and the daemon keeps running.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import test, { after, before, describe } from 'node:test';
import * as fc from 'fast-check';
import { ENTITLEMENTS } from '../../daemon/accounts/licence.ts';
import { loadUws } from '../../daemon/http/adapters/uws-adapter.ts';
import { CLAIMS, HEADER, PAIR, token } from '../accounts/licences.ts';
import { checkReply } from '../api/checker.ts';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { operationsOf, wholeDocument, type NamedOperation } from '../api/document.ts';
import { requestsFor, type MadeRequest, type Vocabulary } from '../api/requests.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { SEED } from '../seed.ts';
import { call, post, send, serveIndexed, type Served } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const EMAIL = 'owner@example.com';
const PASSWORD = 'a long enough password';
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const ENVIRONMENT = {
  TRAWL_OWNER_EMAIL: EMAIL,
  TRAWL_OWNER_API_KEY: KEY,
  TRAWL_OWNER_PASSWORD: PASSWORD,
  TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
  TRAWL_LICENSE_KEY: token(HEADER, {
    ...CLAIMS,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 86_400,
    entitlements: ENTITLEMENTS,
    seats: 10_000,
  }),
};
const WITH_KEY = { Authorization: `Bearer ${KEY}` };

/** Requests for each operation, on the default server and on the other: what is behind both is the same. */
const RUNS = { node: Number(process.env['TRAWL_FUZZ_RUNS'] ?? 10), uws: 4 } as const;
/** Of some operations one request in thirty is right. */
const ROUNDS_MAX = 75;

/** Operations that need a secret, that a limit of attempts closes, or that are refused here for good. */
const SELDOM_DONE = new Set([
  'POST /api/auth/setup',
  'GET /api/auth/link',
  'POST /api/auth/login',
  'POST /api/auth/password',
  'PUT /api/license',
  // There is no provider of sign-on.
  'GET /api/auth/oidc/{id}',
  'GET /api/auth/oidc/{id}/callback',
  // There is neither a connection nor a secret of webhooks.
  'POST /api/connections/{connectionId}/sync',
  'POST /api/webhook',
  // Nobody is the operator over TCP.
  ...ENDPOINTS.filter(({ access }) => access === 'operator').map(nameOf),
]);

function nameOf({ method, path }: Pick<NamedOperation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** Two that stay, and some that requests to their address may remove, whatever else they are about. */
const MEMBERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

const repo = makeRepo({ 'a.txt': 'plum\n', 'src/b.ts': 'const pear = 1;\n', 'c.bin': '\0\0' });
const document = wholeDocument();
const operations = operationsOf(document);
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
after(() => agent.destroy());

/** The status of an answer that is as described and no fault of the daemon. */
async function statusOf(url: string, made: MadeRequest): Promise<number> {
  const { body } = made;
  const framing = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const reply = await send(url, { ...made, agent, headers: { ...made.headers, ...framing } });
  checkReply({ ...made, accept: made.headers['Accept'] }, reply);
  assert.notEqual(reply.status, 500);
  return reply.status;
}

const uwsFailure = await loadUws().then(
  () => undefined,
  (error: unknown) => String(error).split('\n')[0],
);

async function done(
  url: string,
  method: string,
  body?: object,
  headers: Readonly<Record<string, string>> = WITH_KEY,
): Promise<Response> {
  const answer = await call(url, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${url}: ${answer.ok ? '' : await answer.text()}`);
  return answer;
}

async function idOf(answer: Promise<Response>): Promise<string> {
  return ((await (await answer).json()) as { id: string }).id;
}

async function signIn({ url }: Served): Promise<Record<string, string>> {
  const answer = await done(
    `${url}/api/auth/login`,
    'POST',
    { email: EMAIL, password: PASSWORD },
    {},
  );
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { Cookie: cookie, Origin: url };
}

/** Ids of what an application asks a user for. */
async function consentRequests(url: string, session: Record<string, string>): Promise<string[]> {
  const redirectUri = 'http://127.0.0.1/';
  const client = { client_name: 'x', redirect_uris: [redirectUri] };
  const registered = await fetch(`${url}/register`, {
    method: 'POST',
    body: JSON.stringify(client),
  });
  const { client_id: clientId } = (await registered.json()) as { readonly client_id: string };
  const requested = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  const address = `${url}/oauth/authorize?${requested.toString()}`;
  const ids = Array.from({ length: 8 }, async () => {
    const answer = await fetch(address, { headers: session, redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '').searchParams.get('request') ?? '';
  });
  return await Promise.all(ids);
}

/** Makes what requests may name: members, keys, tokens. */
async function prepare(served: Served): Promise<Vocabulary> {
  const { url } = served;
  const session = await signIn(served);
  const [userId, id]: [string[], string[]] = [[], []];
  for (const name of MEMBERS) {
    const member = { email: `${name}@example.com`, name };
    userId.push(await idOf(done(`${url}/api/ee/users`, 'POST', member)));
    id.push(await idOf(done(`${url}/api/user/api_keys`, 'POST', { name }, session)));
    const scope = { repoIds: [1] };
    id.push(await idOf(done(`${url}/api/ee/scoped_access_token`, 'POST', scope)));
  }
  const repos = await done(`${url}/api/repos`, 'GET');
  const repoNames = ((await repos.json()) as { repoName: string }[]).map(
    ({ repoName }) => repoName,
  );
  const requested = await done(`${url}/api/repos/1/index`, 'POST');
  const { jobId } = (await requested.json()) as { jobId: string };
  const words = {
    repo: repoNames,
    path: ['a.txt', 'src/b.ts', 'src', 'none'],
    ref: ['HEAD', 'none', ''],
    base: ['HEAD', 'none'],
    head: ['HEAD', 'main', '-x'],
    author: ['A', 'a@example', 'nobody', '\\('],
    until: ['2026-01-01', 'last week', '3 days ago', '2026-01-01T00:00:00.5Z', 'x'],
    repoName: repoNames,
    revisionName: ['HEAD', 'HEAD', 'none', '', '-x', 'HEAD:a.txt'],
    paths: [[], ['src'], ['/', 'none'], ['..'], ['a\0']],
    file: ['page.js', 'swagger-ui.css', 'none'],
    email: [EMAIL, 'a@example.com', ...Array.from({ length: 9 }, (_, i) => `new${i}@example.com`)],
    password: [PASSWORD, 'wrong password'],
    since: ['2026-01-01', '2026-01-01T00:00:00Z', 'x'],
    repoIds: [[1], [1, 1], [1, 999], [0]],
    repoId: [1, 999],
    queue: ['repo-index', 'repo-index', 'x'],
    jobId: [jobId, jobId, 'none'],
    userId,
    id,
    consentId: await consentRequests(url, session),
  };
  return { words, credentials: [WITH_KEY] };
}

function membersFor(
  { path, operation }: NamedOperation,
  { words }: Vocabulary,
): readonly unknown[] {
  const all = words['userId'] ?? [];
  if (path !== '/api/ee/user') return all.slice(0, 2);
  return operation.operationId === 'deleteUser' ? all.slice(2, 6) : all.slice(6);
}

/** Ids that the address of an operation may have; a request for consent is answered once. */
function idsFor({ path, method }: NamedOperation, { words }: Vocabulary): readonly unknown[] {
  if (path !== '/api/ee/oauth/request/{id}') return words['id'] ?? [];
  const all = words['consentId'] ?? [];
  return method === 'GET' ? all.slice(0, 2) : all.slice(2);
}

for (const kind of ['node', 'uws'] as const) {
  const skip = kind === 'uws' && uwsFailure !== undefined ? uwsFailure : false;
  describe(`hostile requests on ${kind}`, { skip }, () => {
    const dataDir = temporaryFolder();
    let served: Served;
    let vocabulary: Vocabulary;
    let session: Record<string, string>;

    before(async () => {
      served = await serveIndexed(dataDir, [repo], { env: { ...ENVIRONMENT, TRAWL_HTTP: kind } });
      vocabulary = await prepare(served);
      session = await signIn(served);
    });
    after(() => served.process.stop());

    for (const one of operations) {
      test(nameOf(one), async () => {
        // Some end it.
        const own = one.path.startsWith('/api/auth/') ? await signIn(served) : session;
        const credentials = [WITH_KEY, own];
        const userId = membersFor(one, vocabulary);
        const words = { ...vocabulary.words, userId, id: idsFor(one, vocabulary) };
        const requests = requestsFor(one, document, { words, credentials });
        const statuses = new Set<number>();
        const sendAll = async (round: number): Promise<void> =>
          fc.assert(
            fc.asyncProperty(requests, async (made) => {
              statuses.add(await statusOf(served.url, made));
            }),
            { numRuns: RUNS[kind], seed: SEED + round },
          );
        const isDone = (): boolean =>
          SELDOM_DONE.has(nameOf(one)) ||
          [...statuses].some((status) => status < 300 && status !== 204) ||
          ('204' in one.operation.responses && statuses.has(204));
        await sendAll(0);
        if (kind !== 'node') return;
        for (let round = 1; round < ROUNDS_MAX && !isDone(); round++) await sendAll(round);
        const statusText = `only ${[...statuses].join(', ')}`;
        assert.ok(isDone(), statusText);
        assert.ok(statuses.size > 1, statusText);
      });
    }

    test('the daemon keeps running, without an internal error', async () => {
      const { status, body } = await post(served.url, { query: 'plum' }, WITH_KEY);
      assert.equal(status, 200);
      assert.deepEqual(
        body.files.map(({ fileName }) => fileName.text),
        ['a.txt'],
      );
      assert.doesNotMatch(served.process.stderr, / ERROR |failed unexpectedly|\n\s+at /);
    });
  });
}
