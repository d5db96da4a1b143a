// Two daemons on one PostgreSQL under one address: each accepts what the other issued, and a code used at both
// succeeds once.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { REVOKE_PATH } from '../../../daemon/api/oauth/addresses.ts';
import { ENTITLEMENTS } from '../../../daemon/accounts/licence.ts';
import { PAIR } from '../../accounts/licences.ts';
import {
  POSTGRES_MISSING,
  startPostgres,
  type PostgresServer,
} from '../../store/postgres-server.ts';
import { type AccountsWorld, licenceKey, startAccounts } from '../../accounts/world.ts';
import { closeWorlds, startWorld } from '../../http/harness.ts';
import {
  clientOf,
  codeFor,
  type Tokens,
  tokensIn,
  type OAuthReply,
  post,
  redeem,
  refresh,
  refusalOf,
  statusWith,
} from './flow.ts';

const BASE_URL = 'http://localhost:1';

describe('OAuth of two daemons', { skip: POSTGRES_MISSING ?? false }, () => {
  let server: PostgresServer;
  let one: AccountsWorld;
  let two: AccountsWorld;
  let cookie: string;
  let clientId: string;

  before(async () => {
    server = await startPostgres();
    const env = {
      TRAWL_DATABASE_URL: await server.createDatabase(),
      TRAWL_BASE_URL: BASE_URL,
      TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
      TRAWL_LICENSE_KEY: licenceKey(ENTITLEMENTS),
    };
    one = await startAccounts({ env });
    const other = await startWorld({ kind: 'node', env, now: () => one.clock.nowMs });
    two = { ...one, server: other.server };
    cookie = await one.signIn('member@example.com');
    clientId = await clientOf(one);
  });

  after(async () => {
    await closeWorlds();
    await server.remove();
  });

  /** The replies of both to the same request, four times each at once. */
  function atOnce(send: (world: AccountsWorld) => Promise<OAuthReply>): Promise<OAuthReply[]> {
    return Promise.all(Array.from({ length: 8 }, (_, index) => send(index % 2 === 0 ? one : two)));
  }

  async function endAll(replies: readonly OAuthReply[]): Promise<void> {
    const served: Tokens[] = replies.filter(({ status }) => status === 200).map(tokensIn);
    assert.ok(served.length <= 1, String(served.length));
    for (const { access, refresh: token } of served)
      for (const world of [one, two]) {
        assert.equal(await statusWith(world, `Bearer ${access}`), 401);
        const reply = await refresh(world, clientId, token);
        assert.deepEqual(refusalOf(reply), [400, 'invalid_grant']);
      }
  }

  test('a code and a refresh token used at both daemons at once succeed once, and are revoked', async () => {
    for (let round = 0; round < 5; round++) {
      const code = await codeFor(one, cookie, clientId);
      await endAll(await atOnce((world) => redeem(world, clientId, code)));
      const next = await codeFor(one, cookie, clientId);
      const tokens = tokensIn(await redeem(two, clientId, next));
      await endAll(await atOnce((world) => refresh(world, clientId, tokens.refresh)));
    }
  });

  test('what is revoked at one is refused by the other, which had cached it', async () => {
    const tokens = tokensIn(await redeem(one, clientId, await codeFor(one, cookie, clientId)));
    for (const world of [one, two])
      assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 200);
    await post(one, REVOKE_PATH, { token: tokens.access });
    const refused = async (): Promise<boolean> =>
      (await statusWith(two, `Bearer ${tokens.access}`)) === 401;
    // Word of it comes by the database.
    for (let tries = 0; !(await refused()); tries++) {
      assert.ok(tries < 250);
      await pause(20);
    }
    assert.equal(await statusWith(one, `Bearer ${tokens.access}`), 401);
  });
});
