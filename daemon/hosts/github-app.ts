// Credentials of GitHub apps (API.md 19.6): one per organization or user that installed an app, valid for an hour.

import { createPrivateKey } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import appToken from 'universal-github-app-jwt';
import { z } from 'zod';
import type { SecretSource } from '../base/config/secret-source.ts';
import { SecretText } from '../base/config/secret-text.ts';
import { SharedWork } from '../base/shared-work.ts';
import { HostError } from './host.ts';
import { secretNow } from './http-host.ts';
import type { PlainApi } from './plain-api.ts';
import type { HostTransport } from './transport.ts';
import type { Environment } from '../base/config/dispatcher.ts';

/** A configured app. */
export interface GithubApp {
  readonly type: 'githubApp';
  readonly id: number | string;
  readonly privateKey: SecretSource;
  readonly url: string;
}

/** An installation of an app. */
interface Installation {
  readonly app: GithubApp;
  readonly id: number;
}

const installationPage = z.array(
  z.object({
    id: z.int().positive(),
    // Enterprises have no login; they own no repositories.
    account: z.object({ login: z.string().optional() }).nullable(),
    suspended_at: z.string().nullish(),
  }),
);
const tokenSchema = z.object({ token: z.string().min(1) });
const appSchema = z.object({ slug: z.string().optional(), name: z.string().optional() });

/** GitHub's tokens live an hour: git gets one that is valid for at least half of it. */
const TOKEN_AGE_MS = 1_500_000;
/** Bound: delay until a new installation counts; a listing takes a request for each 100. */
const INSTALLATIONS_AGE_MS = 300_000;
/** Bound: memory; tokens of organizations that install the app. */
const TOKENS_MAX = 10_000;
/** Bound: a listing that never ends; 100,000 installations. */
const PAGES_MAX = 1_000;
/** Clock difference that an app's credential allows for. */
const CLOCK_SLACK_MS = 20_000;

export interface GithubAppsOptions {
  /** Apps of the host. */
  readonly apps: readonly GithubApp[];
  readonly api: (token: SecretText, signal: AbortSignal) => PlainApi;
  readonly transport: HostTransport;
  readonly env: Environment;
}

type Installations = ReadonlyMap<string, Installation>;

export class GithubApps {
  readonly #options: GithubAppsOptions;
  readonly #installations = new LRUCache<'all', Installations>({
    max: 1,
    ttl: INSTALLATIONS_AGE_MS,
  });
  readonly #listings = new SharedWork<'all', Installations>();
  readonly #tokens = new LRUCache<Installation, SecretText>({ max: TOKENS_MAX, ttl: TOKEN_AGE_MS });
  readonly #requests = new SharedWork<Installation, SecretText>();

  constructor(options: GithubAppsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#options.apps.length === 0;
  }

  /**
   * A credential for an owner's repositories; undefined: the owner has installed no app. Errors: HostError; the reason of
   * the signal.
   */
  async tokenOf(owner: string, signal: AbortSignal): Promise<SecretText | undefined> {
    const installation = await this.#installationAt(owner, signal);
    if (installation === undefined) return undefined;
    const cached = this.#tokens.get(installation);
    if (cached !== undefined) return cached;
    return this.#requests.get(installation, signal, (signal) =>
      this.#request(installation, signal),
    );
  }

  /** Errors: as tokenOf. */
  async isInstalled(owner: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#installationAt(owner, signal)) !== undefined;
  }

  /** Names of the apps, and their number of installations. Errors: as tokenOf. */
  async describe(signal: AbortSignal): Promise<string> {
    const names: string[] = [];
    for (const app of this.#options.apps) {
      const { slug, name } = await this.#requestAs(app, signal, (api) =>
        api.get(appSchema, '/app'),
      );
      names.push(`app ${slug ?? name ?? app.id}`);
    }
    const { size } = await this.#allInstallations(signal);
    return `${names.join(', ')}, installed by ${size}`;
  }

  async #installationAt(owner: string, signal: AbortSignal): Promise<Installation | undefined> {
    if (this.isEmpty) return undefined;
    return (await this.#allInstallations(signal)).get(owner.toLowerCase());
  }

  async #allInstallations(signal: AbortSignal): Promise<Installations> {
    return (
      this.#installations.get('all') ??
      this.#listings.get('all', signal, async (signal) => {
        const found = new Map<string, Installation>();
        for (const app of this.#options.apps)
          for await (const [owner, id] of this.#installationsOf(app, signal))
            if (!found.has(owner)) found.set(owner, { app, id });
        this.#installations.set('all', found);
        return found;
      })
    );
  }

  /** Owners that installed an app, in lower case, and the installation's id; without suspended ones. */
  async *#installationsOf(app: GithubApp, signal: AbortSignal): AsyncIterable<[string, number]> {
    for (let page = 1; page <= PAGES_MAX; page++) {
      const query = { per_page: 100, page };
      const { data, headers } = await this.#requestAs(app, signal, (api) =>
        api.page(installationPage, '/app/installations', query),
      );
      for (const { id, account, suspended_at: suspendedAt } of data)
        if (account?.login !== undefined && (suspendedAt ?? null) === null)
          yield [account.login.toLowerCase(), id];
      if (!/\brel="next"/.test(headers.get('link') ?? '')) return;
    }
  }

  async #request(installation: Installation, signal: AbortSignal): Promise<SecretText> {
    const address = `/app/installations/${installation.id}/access_tokens`;
    const { data } = await this.#requestAs(installation.app, signal, (api) =>
      api.page(tokenSchema, address, {}, 'POST'),
    );
    const token = new SecretText(data.token);
    this.#tokens.set(installation, token);
    return token;
  }

  /** Sends a request as the app itself; repeats it with the host's clock if that differs from ours. */
  async #requestAs<Answer>(
    app: GithubApp,
    signal: AbortSignal,
    send: (api: PlainApi) => Promise<Answer>,
  ): Promise<Answer> {
    const { api, transport } = this.#options;
    const aheadMs = transport.clockAheadMs;
    try {
      return await send(api(await this.#tokenAs(app, aheadMs), signal));
    } catch (error) {
      const movedMs = Math.abs(transport.clockAheadMs - aheadMs);
      const isRefused = error instanceof HostError && error.code === 'NOT_AUTHENTICATED';
      if (!isRefused || movedMs < CLOCK_SLACK_MS) throw error;
      return send(api(await this.#tokenAs(app, transport.clockAheadMs), signal));
    }
  }

  /** Errors: HostError if the key is missing or invalid. */
  async #tokenAs({ id, privateKey: source }: GithubApp, aheadMs: number): Promise<SecretText> {
    const key = secretNow(source, this.#options.env)?.reveal() ?? '';
    const now = Math.floor((Date.now() + aheadMs) / 1000);
    try {
      const privateKey = createPrivateKey(key.replaceAll(String.raw`\n`, '\n'));
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const { token } = await appToken({ id, privateKey: pem, now });
      return new SecretText(token);
    } catch {
      throw new HostError(
        'NO_SECRET',
        `app ${id}: privateKey is not a private key; expected the PEM file that GitHub made`,
      );
    }
  }
}
