// Handles pushes reported by code hosts (API.md 13.6): finds the repos of our connections and requests a job for each.
// A repo with many pushes gets one job at once and one more every few seconds, so that the last push is never missed. A
// repo that has moved is listed again.

import type { RepoHost, StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { SecretText } from '../../base/config/secret-text.ts';
import type { Log } from '../../base/log.ts';
import {
  type Delivery,
  readWebhook,
  type WebhookChange,
  type WebhookRepository,
} from '../../hosts/webhook.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { Jobs } from '../jobs/jobs.ts';

export interface PushesOptions {
  readonly registry: Pick<RepoRegistry, 'all'>;
  readonly has: (repoId: number) => boolean;
  /** Fetches and indexes a repo at this time (ms since the epoch). */
  readonly requestFetch: (repoId: number, dueAt: number, pushedAt: number | undefined) => void;
  readonly jobs: Pick<Jobs, 'flush'>;
  /** Restricts a repo; resolves when no new search shows it to callers who lost access. Errors: none. */
  readonly restrict: (
    repoId: number,
    visibility: NonNullable<WebhookChange['visibility']>,
  ) => Promise<void>;
  readonly relist: (repoId: number) => void;
  /** The current secret; undefined: webhooks are off. Errors: it cannot be read. */
  readonly webhookSecret: () => SecretText | undefined;
  readonly log: Log;
}

export interface TakenDelivery {
  readonly outcome: 'unproven' | 'taken';
  readonly repositories: number;
}

/** Refused deliveries since the last valid one. */
interface Refused {
  count: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** API.md 13.6: repeats within this time make one job. */
const REPEAT_MS = 5_000;

export class Pushes {
  readonly #options: PushesOptions;
  /** When the last requested fetch of a repo starts (ms since the epoch). */
  readonly #dueAt = new Map<number, number>();
  #refused: Refused | undefined;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  get isAwaiting(): boolean {
    try {
      return this.#options.webhookSecret() !== undefined;
    } catch {
      return true;
    }
  }

  /** Processes a delivery of a code host. Resolves when a repository that became private is hidden. */
  async take(delivery: Delivery): Promise<TakenDelivery> {
    const secret = this.#secret();
    if (secret === undefined) return { outcome: 'unproven', repositories: 0 };
    const webhook = readWebhook(delivery, secret);
    if (webhook === undefined) {
      this.#noteRefused();
      return { outcome: 'unproven', repositories: 0 };
    }
    this.#refused = undefined;
    const { event, change } = webhook;
    if (change === undefined) return { outcome: 'taken', repositories: 0 };
    const { repository, isPush, visibility, pushedAt } = change;
    // Why first: fetched content must not be shown to callers who have lost access.
    if (visibility !== undefined)
      await Promise.all(
        this.#matchingRepos(repository).map(({ repoId }) =>
          this.#options.restrict(repoId, visibility),
        ),
      );
    const repositories = isPush ? this.note(repository, pushedAt) : 0;
    // Also if they cannot be stored, which is logged.
    await this.#options.jobs.flush();
    for (const { repoId, host } of this.#matchingRepos(repository))
      if (isElsewhere(host, repository)) this.#options.relist(repoId);
    this.#options.log.debug('webhook accepted', { event, path: repository.path, repositories });
    return { outcome: 'taken', repositories };
  }

  #noteRefused(): void {
    this.#refused ??= { count: 0, since: Date.now() };
    this.#refused.count++;
    // Why only the first: anybody who reaches the daemon can send any number.
    if (this.#refused.count === 1) this.#options.log.warn(this.degradations.join());
  }

  /** Problems, as sentences for the owner; empty: none. */
  get degradations(): readonly string[] {
    if (this.#refused === undefined) return [];
    const { count, since } = this.#refused;
    return [
      `no webhook has been accepted since ${new Date(since).toISOString()}, and ${count} ${count === 1 ? 'was' : 'were'} refused: the sender did not prove that it ` +
        'knows the secret; give the host the secret that settings.webhooks.secret points to',
    ];
  }

  #secret(): SecretText | undefined {
    try {
      return this.#options.webhookSecret();
    } catch (error) {
      const fields = { error: messageOf(error) };
      this.#options.log.error('webhooks are refused: the secret cannot be read', fields);
      return undefined;
    }
  }

  /** Fetches and indexes the repos of a push; returns how many were not due before. */
  note(pushed: WebhookRepository, pushedAt?: number): number {
    return this.#matchingRepos(pushed).filter(({ repoId }) => this.#request(repoId, pushedAt))
      .length;
  }

  #matchingRepos(pushed: WebhookRepository): StoredRepo[] {
    const { registry, has } = this.#options;
    return registry.all.filter(
      ({ repoId, host }) => host !== undefined && isPushed(host, pushed) && has(repoId),
    );
  }

  /** Returns false if the fetch waits, because the last one was requested a moment ago. */
  #request(repoId: number, pushedAt: number | undefined): boolean {
    const now = Date.now();
    const last = this.#dueAt.get(repoId) ?? 0;
    const next = last > now ? last : Math.max(now, last + REPEAT_MS);
    // Why a minimum: the clock may have been set back.
    const dueAt = Math.min(next, now + REPEAT_MS);
    this.#dueAt.set(repoId, dueAt);
    this.#options.requestFetch(repoId, dueAt, pushedAt);
    return dueAt === now;
  }
}

/** The delivery must agree with the host's facts from the listing. */
function isPushed({ address, hostId, facts }: RepoHost, pushed: WebhookRepository): boolean {
  if (facts.codeHostType === 'genericGitHost')
    return pushed.cloneUrls.some((url) => plainUrl(url) === plainUrl(facts.cloneUrl));
  if (facts.codeHostType !== pushed.codeHostType) return false;
  const hosts = [address, facts.cloneUrl, facts.webUrl].flatMap(hostOf);
  if (pushed.hosts.length > 0 && !pushed.hosts.some((host) => hosts.includes(host))) return false;
  if (pushed.hostId !== undefined) return pushed.hostId === hostId;
  return pushed.path?.toLowerCase() === facts.path.toLowerCase();
}

/** Whether a repo was renamed or moved since the listing. A repo known only by its address cannot move. */
function isElsewhere(host: RepoHost | undefined, { path }: WebhookRepository): boolean {
  if (host === undefined || host.facts.codeHostType === 'genericGitHost') return false;
  return path !== undefined && path !== host.facts.path;
}

function hostOf(address: string | undefined): string[] {
  return address !== undefined && URL.canParse(address) ? [new URL(address).host] : [];
}

/** Without the parts that do not identify the repository. */
function plainUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\.git$/, '');
}
