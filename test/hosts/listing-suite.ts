// Requirements for listings of every kind of host: page by page, complete despite failing parts, and
// without leaking credentials. Each kind brings a stand-in with the answer shapes of its real API.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HostError } from '../../daemon/hosts/host.ts';
import { listAll, openedHost, SIGNAL, type Listed, type OpenedHost } from './opened.ts';
import { startServer, type Requested, type RunningServer, type StandInReply } from './servers.ts';

/** What a test lets go wrong; undefined: the stand-in answers as it would. */
export type Fault = (requested: Requested) => StandInReply | undefined;

export interface StandIn {
  readonly kind: string;
  /** Of a page that it sends; undefined: all at once. */
  readonly pageSize: number | undefined;
  /** A connection with two targets: `full` has the requested number of repositories, `other` has one more. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Undefined: there is one target. */
  readonly otherTarget: string | undefined;
  readonly fullTarget: string;
  answer(requested: Requested, count: number): StandInReply;
  /** How many repositories the page of the first target skips; undefined: a request for something else. */
  skippedBy(requested: Requested): number | undefined;
  /** Answers with only one repository, which moved from the first target to the other one. */
  readonly answerOne?: (requested: Requested, isMoved: boolean) => StandInReply;
  /** A connection that names things that do not exist, and the issues: code, target, effect. */
  readonly missing?: readonly [settings: object, issues: readonly string[]];
  /** The user of git's credential, and who the probe says that the caller is; undefined: tested by kind of token. */
  readonly callers?: readonly [gitUser: string, caller: string];
  /** Numbered pages are read from the last on, so that none is missed. */
  readonly isFirstPageReadTwice?: boolean;
  /** A page without the count of all; undefined: pages tell no count. */
  readonly uncounted?: (page: StandInReply) => StandInReply;
  /** A page of the first target that names a next one at another host; undefined: pages are not named by address. */
  pageElsewhere?(url: string): StandInReply;
}

export const TOKEN = 'secret-of-the-test';

export const issuesOf = ({ issues }: Pick<Listed, 'issues'>): string[] =>
  issues.map(({ code, effect }) => `${code} ${effect}`);

export const targetIssues = ({ issues }: Pick<Listed, 'issues'>): string[] =>
  issues.map(({ code, target, effect }) => `${code} ${target} ${effect}`);

export const pathsOf = ({ repos }: Pick<Listed, 'repos'>): string[] =>
  repos.map(({ path }) => path);

export const visibilitiesOf = ({ repos }: Pick<Listed, 'repos'>): string[] =>
  repos.map(({ visibility }) => visibility);

/** Opens the host of a connection; the variable `TOKEN` has the token of the stand-ins. */
export function openForTest(t: TestContext, settings: Readonly<Record<string, unknown>>) {
  return openedHost(t, settings, { env: { TOKEN } });
}

/** A host whose server answers so. */
export async function served(
  t: TestContext,
  answer: (requested: Requested) => StandInReply,
  settings: Readonly<Record<string, unknown>>,
) {
  const server = await startServer(t, answer);
  return { server, ...(await openForTest(t, { ...settings, url: server.url })) };
}

type Start = (
  t: TestContext,
  fault?: Fault,
  count?: number,
) => Promise<OpenedHost & { readonly server: RunningServer }>;

interface Suite {
  readonly standIn: StandIn;
  /** Repositories of the first target, where a test does not say how many. */
  readonly manyCount: number;
  /** Repositories of all targets. */
  readonly totalCount: number;
  readonly start: Start;
  readonly isFirst: (requested: Requested) => boolean;
}

/** What is listed, of a host that answers. */
function testWholeLists({ standIn, totalCount, start }: Suite): void {
  const { kind } = standIn;

  test(`${kind}: every repository is listed once, with an id, a path and an address without credentials`, async (t) => {
    const { host, server } = await start(t);
    const { repos, issues } = await listAll(host);
    assert.deepEqual(issues, []);
    assert.equal(repos.length, totalCount);
    assert.equal(new Set(repos.map(({ hostId }) => hostId)).size, totalCount);
    assert.equal(new Set(repos.map(({ path }) => path)).size, totalCount);
    for (const { cloneUrl } of repos) {
      assert.equal(new URL(cloneUrl).origin, server.url);
      assert.equal(new URL(cloneUrl).username, '');
    }
    assert.equal(host.nameHost, new URL(server.url).host);
  });

  test(`${kind}: one repository is read as it is listed, by one request; a missing one is not found`, async (t) => {
    const { host, server } = await start(t, undefined, 3);
    const { repos } = await listAll(host);
    if (host.repository === undefined) return assert.equal(kind, 'gerrit', 'its names are its ids');
    const listed = repos[0]!;
    const before = server.requested.length;
    assert.deepEqual(await host.repository(listed.path, SIGNAL), listed);
    assert.equal(server.requested.length - before, 1);
    await assert.rejects(host.repository(`${listed.path}-none`, SIGNAL), { code: 'NOT_FOUND' });
  });

  const { callers, missing, answerOne } = standIn;
  if (answerOne !== undefined)
    test(`${kind}: a renamed or moved repository keeps its id`, async (t) => {
      let isMoved = false;
      const answered = (requested: Requested) => answerOne(requested, isMoved);
      const { host } = await served(t, answered, standIn.settings);
      const before = (await listAll(host)).repos[0];
      isMoved = true;
      const after = (await listAll(host)).repos[0];
      assert.equal(after?.hostId, before?.hostId);
      assert.notEqual(after?.path, before?.path);
    });
  if (callers !== undefined)
    test(`${kind}: git gets the token; the probe returns the current user`, async (t) => {
      const { host } = await start(t, undefined, 1);
      const credential = await host.gitCredential({ path: 'full/p0', cloneUrl: 'x' }, SIGNAL);
      assert.deepEqual([credential?.user, credential?.password.reveal()], [callers[0], TOKEN]);
      assert.equal(await host.probe(SIGNAL), callers[1]);
    });

  if (missing !== undefined)
    test(`${kind}: a missing repository is gone, a missing owner is unknown, the rest is listed`, async (t) => {
      const settings = { ...standIn.settings, ...missing[0] };
      const { host } = await served(t, (requested) => standIn.answer(requested, 2), settings);
      const listed = await listAll(host);
      assert.deepEqual(targetIssues(listed), missing[1]);
      assert.equal(listed.repos.length, 1);
    });
}

/** Missing targets, and the reports about them. */
function testIssues({ standIn, start, isFirst }: Suite): void {
  const { kind } = standIn;

  test(`${kind}: a rejected credential ends the listing, with the next step`, async (t) => {
    const { host } = await start(t, () => ({ status: 401, body: { message: 'bad' } }));
    await assert.rejects(listAll(host), (error) => {
      assert.ok(error instanceof HostError);
      assert.equal(error.code, 'NOT_AUTHENTICATED');
      assert.match(error.message, /expired|revoked/);
      return true;
    });
    await assert.rejects(host.probe(SIGNAL), { code: 'NOT_AUTHENTICATED' });
  });

  test(`${kind}: a missing token is named, and ends the listing`, async (t) => {
    const { host } = await openedHost(t, { ...standIn.settings, url: 'http://127.0.0.1:9' });
    await assert.rejects(listAll(host), { code: 'NO_SECRET', message: /TOKEN: no secret/ });
  });

  for (const [status, code] of [
    [404, 'NOT_FOUND'],
    [403, 'NOT_ALLOWED'],
    [500, 'HOST_UNAVAILABLE'],
  ] as const)
    test(`${kind}: a target that answers ${status} is an issue, and the rest continues`, async (t) => {
      const said = { status, body: { message: 'said by the host' } };
      const { host } = await start(t, (requested) => (isFirst(requested) ? said : undefined));
      const listed = await listAll(host);
      assert.equal(listed.repos.length, standIn.otherTarget === undefined ? 0 : 1);
      assert.deepEqual(targetIssues(listed), [
        `${code} ${standIn.fullTarget} DISCOVERY_INCOMPLETE`,
      ]);
      assert.match(listed.issues[0]!.message, /127\.0\.0\.1:\d+.*said by the host/);
    });

  test(`${kind}: truncated JSON, wrong shapes and web pages are issues, never repositories`, async (t) => {
    for (const body of [
      '[{"id": 1, "pa',
      '{"values": [{"slug": 7}]}',
      '{"a": {"id": 7}}',
      '[7]',
      '<p>Hello</p>',
    ]) {
      const headers = { 'content-type': 'application/json' };
      const { host } = await start(t, (requested) =>
        isFirst(requested) ? { body, headers } : undefined,
      );
      const listed = await listAll(host);
      assert.equal(listed.repos.length, standIn.otherTarget === undefined ? 0 : 1, body);
      assert.deepEqual(issuesOf(listed), ['HOST_ANSWER_INVALID DISCOVERY_INCOMPLETE'], body);
    }
  });
}

/** Where the credential goes; retries, pauses, TLS and proxies are the transport's (transport.test.ts). */
function testTransport({ standIn, start, isFirst }: Suite): void {
  const { kind } = standIn;

  test(`${kind}: a redirect to another host is not followed, and gets no credential`, async (t) => {
    const elsewhere = await startServer(t, () => ({ body: [] }));
    const { host } = await start(t, (requested) =>
      isFirst(requested)
        ? { status: 302, headers: { location: `${elsewhere.url}${requested.path}` } }
        : undefined,
    );
    // Some hosts send those away whom they do not know.
    const outcome = await listAll(host).catch((error: unknown) => error);
    const codes =
      outcome instanceof HostError
        ? [outcome.code]
        : (outcome as Listed).issues.map(({ code }) => code);
    assert.equal(codes.length, 1);
    assert.match(codes[0]!, /^(?:NOT_AUTHENTICATED|REDIRECT_REFUSED)$/);
    assert.deepEqual(elsewhere.requested, []);
  });

  test(`${kind}: the token is in no message and no log line`, async (t) => {
    const { host, lines, server } = await start(t, (requested) =>
      isFirst(requested) ? { status: 403, body: { message: `who is ${TOKEN}?` } } : undefined,
    );
    const { issues } = await listAll(host);
    const credentials = server.requested.map(({ headers }) => headers.authorization ?? '');
    assert.ok(credentials.every((text) => text !== ''));
    const encoded = credentials[0]!.split(' ')[1]!;
    const said = JSON.stringify(issues) + lines.join('');
    assert.ok(!said.includes(TOKEN) && !said.includes(encoded), said);
    assert.match(said, /who is \(hidden\)/);
  });

  test(`${kind}: an abort ends the listing with its reason`, async (t) => {
    const ending = new AbortController();
    const reason = new Error('enough');
    const { host } = await start(t, () => {
      ending.abort(reason);
      return undefined;
    });
    await assert.rejects(async () => {
      for await (const _ of host.list(ending.signal));
    }, reason);
  });
}

/** Tests that a kind of host has in common with the others. */
export function testListing(standIn: StandIn): void {
  const { pageSize, otherTarget } = standIn;
  const manyCount = pageSize === undefined ? 30 : 2 * pageSize + 3;

  const start: Start = (t, fault = () => undefined, count = manyCount) =>
    served(
      t,
      (requested) => fault(requested) ?? standIn.answer(requested, count),
      standIn.settings,
    );
  const totalCount = manyCount + (otherTarget === undefined ? 0 : 1);
  const isFirst = (requested: Requested): boolean => standIn.skippedBy(requested) === 0;

  const suite: Suite = { standIn, manyCount, totalCount, start, isFirst };
  testWholeLists(suite);
  testIssues(suite);
  testTransport(suite);

  if (pageSize !== undefined) testPages(suite, pageSize);
}

function testPages({ standIn, manyCount, totalCount, start }: Suite, pageSize: number): void {
  const { kind } = standIn;
  const others = totalCount - manyCount;

  test(`${kind}: one request for each page`, async (t) => {
    for (const [count, pages] of [
      [0, 1],
      [pageSize, 1],
      [pageSize + 1, 2],
    ] as const) {
      const { host, server } = await start(t, undefined, count);
      assert.equal((await listAll(host)).repos.length, count + others);
      const again = pages > 1 && standIn.isFirstPageReadTwice === true ? 1 : 0;
      const pageRequests = server.requested.filter((one) => standIn.skippedBy(one) !== undefined);
      assert.equal(pageRequests.length, pages + again, `${count} repositories`);
    }
  });

  test(`${kind}: a failing page in the middle is an issue; earlier pages stay`, async (t) => {
    const { host } = await start(t, (requested) =>
      standIn.skippedBy(requested) === pageSize ? { status: 500, body: 'oops' } : undefined,
    );
    const listed = await listAll(host);
    assert.ok(listed.repos.length > others && listed.repos.length < manyCount + others);
    assert.deepEqual(issuesOf(listed), ['HOST_UNAVAILABLE DISCOVERY_INCOMPLETE']);
  });

  const { uncounted } = standIn;
  for (const [counts, sent] of [
    ['', (page: StandInReply) => page] as const,
    ...(uncounted === undefined ? [] : [[' without a count', uncounted] as const]),
  ])
    test(`${kind}: the same page for every number${counts} ends the target, which is incomplete`, async (t) => {
      let first: StandInReply | undefined;
      const { host, server } = await start(t, (requested) => {
        if (standIn.skippedBy(requested) === undefined) return undefined;
        return (first ??= sent(standIn.answer(requested, manyCount)));
      });
      const listed = await listAll(host);
      assert.ok(listed.repos.length >= others && listed.repos.length <= pageSize + others);
      assert.deepEqual(issuesOf(listed), ['HOST_ANSWER_INVALID DISCOVERY_INCOMPLETE']);
      assert.ok(server.requested.length < 30);
    });

  const elsewhere = standIn.pageElsewhere?.bind(standIn);
  if (elsewhere === undefined) return;
  test(`${kind}: a next page at another host is not requested`, async (t) => {
    const other = await startServer(t, () => ({ body: [] }));
    const { host } = await start(t, (requested) =>
      standIn.skippedBy(requested) === 0 ? elsewhere(other.url) : undefined,
    );
    const { issues } = await listAll(host);
    assert.deepEqual(
      issues.map(({ code }) => code),
      ['REDIRECT_REFUSED'],
    );
    assert.deepEqual(other.requested, []);
  });
}
