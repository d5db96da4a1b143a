// A server with accounts and identity providers for tests, and a browser that follows redirects, with cookies for
// each host.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import assert from 'node:assert/strict';
import { REFUSALS, type RefusalReason } from '../../../daemon/accounts/sign-on/refusals.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { licenceEnvironment } from '../licences.ts';
import { type AccountsOptions, type AccountsWorld, startAccounts } from '../world.ts';
import { nameOfListing, ReaderSet } from '../../../daemon/store/host-readers.ts';
import { repo, type Reply } from '../../http/harness.ts';
import { CLIENT } from './real-issuer.ts';
import type { FalseIssuer } from './false-issuer.ts';

export interface SignOnWorld extends AccountsWorld {
  /** Writes and applies a new configuration. */
  configure(providers: Members, connections?: Members): void;
}

type Members = Readonly<Record<string, object>>;

/** The member of the configuration for an issuer. */
export function providerAt(issuer: string, more: object = {}): object {
  const secretFile = path.join(temporaryFolder(), 'secret');
  writeFileSync(secretFile, `${CLIENT.secret}\n`);
  return { type: 'oidc', issuer, clientId: CLIENT.id, clientSecret: { file: secretFile }, ...more };
}

export async function startSignOn(
  providers: Members,
  { env, ...options }: AccountsOptions = {},
): Promise<SignOnWorld> {
  const file = path.join(temporaryFolder(), 'trawl.json');
  const write = (identityProviders: Members, connections: Members = {}): void =>
    writeFileSync(file, JSON.stringify({ identityProviders, connections }));
  write(providers);
  const world = await startAccounts({
    nowMs: Date.now(),
    entitlements: 'none',
    ...options,
    env: { ...licenceEnvironment(), TRAWL_CONFIG: file, ...env },
  });
  return Object.assign(world, {
    configure(changed: Members, connections?: Members) {
      write(changed, connections);
      world.configuration.readAgain();
      world.control.accounts.applyConfiguration();
    },
  });
}

export const PAGE = { accept: 'text/html' };

interface Led {
  readonly status: number;
  readonly location: string;
  readonly url: string;
}

/** Follows redirects as a browser does: keeps cookies for each host and port, and shows the last reply. */
export class Browser {
  readonly cookies = new Map<string, Map<string, string>>();
  readonly visited: string[] = [];

  cookie(url: string, name: string): string | undefined {
    return this.cookies.get(new URL(url).host)?.get(name);
  }

  async get(url: string): Promise<Led> {
    this.visited.push(url);
    const kept = this.cookies.get(new URL(url).host) ?? new Map<string, string>();
    this.cookies.set(new URL(url).host, kept);
    const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(url, { redirect: 'manual', headers: { ...PAGE, cookie } });
    await reply.arrayBuffer();
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) kept.delete(name);
      else kept.set(name, value);
    }
    const location = reply.headers.get('location');
    return {
      status: reply.status,
      location: location === null ? '' : new URL(location, url).href,
      url,
    };
  }

  /** Follows redirects, except to an address for which `isEnd` is true. */
  async follow(url: string, isEnd: (url: string) => boolean = () => false): Promise<Led> {
    let led = await this.get(url);
    for (let count = 0; led.location !== '' && !isEnd(led.location); count++) {
      assert.ok(count < 20, led.location);
      led = await this.get(led.location);
    }
    return led;
  }
}

/** A sign-on started with a false issuer: the address it redirects to, and the cookie. */
export interface StartedSignOn {
  readonly address: URL;
  readonly cookie: string;
  readonly reply: Reply;
}

export async function beginAt(
  world: SignOnWorld,
  issuer: FalseIssuer,
  path = '/api/auth/oidc/test',
): Promise<StartedSignOn> {
  const reply = await world.call({ path, headers: PAGE });
  assert.equal(reply.status, 302, reply.body.toString());
  const address = new URL(String(reply.headers.location));
  issuer.nonce = address.searchParams.get('nonce') ?? '';
  issuer.challenge = address.searchParams.get('code_challenge') ?? '';
  const [cookie = ''] = (reply.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]!);
  return { address, cookie, reply };
}

export function comeBack(
  world: SignOnWorld,
  { address, cookie }: Pick<StartedSignOn, 'address' | 'cookie'>,
  more: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = PAGE,
): Promise<Reply> {
  const query = new URLSearchParams({
    code: 'code',
    state: address.searchParams.get('state') ?? '',
    ...more,
  });
  const { pathname } = new URL(address.searchParams.get('redirect_uri') ?? '');
  const kept = cookie === '' ? {} : { cookie };
  return world.call({ path: `${pathname}?${query.toString()}`, headers: { ...kept, ...headers } });
}

/** The configured connection of this name, as lists name it. */
export function listedConnection({ control }: SignOnWorld, name: string): string {
  const all = [...control.accounts.hostRules.connections()];
  return all.find((one) => nameOfListing(one) === name)!;
}

/** Puts accounts without address into the list of a repo's readers. */
export async function listReaders(
  world: SignOnWorld,
  connectionName: string,
  repoId: number,
  ...ids: string[]
): Promise<void> {
  const readers = new ReaderSet();
  for (const id of ids) readers.add(id, []);
  const { control, clock } = world;
  const connection = listedConnection(world, connectionName);
  await control.store.hostReaders.replace({ repoId, connection }, readers, clock.nowMs);
}

/** Two repositories that nobody sees but by a list. */
export const LISTED_REPOS = [1, 2].map((id) =>
  repo(id, `host.example/r${id}`, { enforcement: 'restricted', visibility: 'private' }),
);

export type Outcome = RefusalReason | 'signed in';

/** The reason of a refusal, as the page gets it; `signed in` without one. */
export function outcomeOf({ status, headers }: Reply): Outcome {
  assert.equal(status, 302);
  const address = new URL(String(headers.location));
  const isSignedIn = (headers['set-cookie'] ?? []).some((line) =>
    /^trawl_session=[0-9a-f]{64};/.test(line),
  );
  const failed = address.searchParams.get('failed');
  assert.equal(isSignedIn, failed === null);
  if (failed === null) return 'signed in';
  assert.ok(failed in REFUSALS, failed);
  return failed as RefusalReason;
}

export async function signOnAt(world: SignOnWorld, issuer: FalseIssuer): Promise<Outcome> {
  return outcomeOf(await comeBack(world, await beginAt(world, issuer)));
}
