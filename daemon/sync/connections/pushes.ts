// Pushes that code hosts tell of (API.md 13.6): which repos of our connections they are of, and a job for each. A repo that is
// told of again and again has one at once and one more each few seconds, so that the last push is never missed. A repo that is
// at another path now is listed again.

import type { RepoHost, StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { SecretText } from '../../base/config/secret-text.ts';
import type { Log } from '../../base/log.ts';
import { type Delivery, readWebhook, type Told, type ToldRepository } from '../../hosts/webhook.ts';
import type { RepoRegister } from '../../index/register/register.ts';

export interface PushesOptions {
  readonly register: Pick<RepoRegister, 'all'>;
  /** Whether a connection has a repo. */
  readonly has: (repoId: number) => boolean;
  /** Has a repo fetched some time, whatever ends this process. */
  readonly owe: (repoId: number) => void;
  /** Has a repo fetched and indexed. */
  readonly askHost: (repoId: number) => void;
  /** Hides a repo from those who may no longer see it; resolves when no new search shows it to them. Errors: none. */
  readonly narrow: (repoId: number, visibility: NonNullable<Told['visibility']>) => Promise<void>;
  /** Has the connections listed that have a repo. */
  readonly relist: (repoId: number) => void;
  /** As the configuration has it now; undefined: no delivery is taken. Errors: it cannot be read. */
  readonly secret: () => SecretText | undefined;
  readonly log: Log;
}

/** `off`: there is no secret to prove anything by. */
export interface TakenDelivery {
  readonly outcome: 'off' | 'unproven' | 'taken';
  /** Repos that are due by it. */
  readonly repositories: number;
}

/** Deliveries since the last one that proved itself. */
interface Refused {
  count: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** API.md 13.6: repeats within that time make one job. */
const REPEAT_MS = 5_000;

export class Pushes {
  readonly #options: PushesOptions;
  /** By repoId, for as long as repeats are one. */
  readonly #recent = new Map<number, { timer: NodeJS.Timeout; isRepeated: boolean }>();

  #refused: Refused | undefined;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Whether hosts are meant to tell of pushes, and of who may see what. */
  get isAwaiting(): boolean {
    try {
      return this.#options.secret() !== undefined;
    } catch {
      return true;
    }
  }

  /** Reads a delivery of a code host, and does what it says. Resolves when a repository that turned private is hidden. */
  async take(delivery: Delivery): Promise<TakenDelivery> {
    const secret = this.#secret();
    if (secret === undefined) return { outcome: 'off', repositories: 0 };
    const webhook = readWebhook(delivery, secret);
    if (webhook === undefined) {
      this.#noteRefused();
      return { outcome: 'unproven', repositories: 0 };
    }
    this.#refused = undefined;
    const { event, told } = webhook;
    if (told === undefined) return { outcome: 'taken', repositories: 0 };
    const { repository, isPush, visibility } = told;
    // Why first: what is fetched now is not shown to more than may see it.
    if (visibility !== undefined)
      await Promise.all(
        this.#meant(repository).map(({ repoId }) => this.#options.narrow(repoId, visibility)),
      );
    const repositories = isPush ? this.note(repository) : 0;
    for (const { repoId, host } of this.#meant(repository))
      if (isElsewhere(host, repository)) this.#options.relist(repoId);
    this.#options.log.debug('a webhook was taken', { event, path: repository.path, repositories });
    return { outcome: 'taken', repositories };
  }

  #noteRefused(): void {
    this.#refused ??= { count: 0, since: Date.now() };
    this.#refused.count++;
    // Why the first alone: whoever reaches the daemon may send any number of them.
    if (this.#refused.count === 1) this.#options.log.warn(this.degradations.join());
  }

  /** What does not work as it should, in words for the owner; empty: nothing. */
  get degradations(): readonly string[] {
    if (this.#refused === undefined) return [];
    const { count, since } = this.#refused;
    return [
      `no webhook has been taken since ${new Date(since).toISOString()}, and ${count} ${count === 1 ? 'was' : 'were'} refused: they do not prove that their sender ` +
        'knows the secret; give the host the one that settings.webhooks.secret points to',
    ];
  }

  #secret(): SecretText | undefined {
    try {
      return this.#options.secret();
    } catch (error) {
      const fields = { error: messageOf(error) };
      this.#options.log.error('webhooks are refused: their secret cannot be read', fields);
      return undefined;
    }
  }

  /** Has the repos fetched and indexed that a push is of; how many of them are due now that were not before. */
  note(pushed: ToldRepository): number {
    return this.#meant(pushed).filter(({ repoId }) => this.#ask(repoId)).length;
  }

  /** Repos that a delivery is about. */
  #meant(pushed: ToldRepository): StoredRepo[] {
    const { register, has } = this.#options;
    return register.all.filter(
      ({ repoId, host }) => host !== undefined && isOf(host, pushed) && has(repoId),
    );
  }

  /** False: it is asked for again when the time of repeats is over. */
  #ask(repoId: number): boolean {
    this.#options.owe(repoId);
    const recent = this.#recent.get(repoId);
    if (recent !== undefined) {
      recent.isRepeated = true;
      return false;
    }
    const timer = setTimeout(() => this.#end(repoId), REPEAT_MS).unref();
    this.#recent.set(repoId, { timer, isRepeated: false });
    this.#options.askHost(repoId);
    return true;
  }

  #end(repoId: number): void {
    const isRepeated = this.#recent.get(repoId)?.isRepeated === true;
    this.#recent.delete(repoId);
    if (isRepeated) this.#ask(repoId);
  }

  close(): void {
    for (const { timer } of this.#recent.values()) clearTimeout(timer);
    this.#recent.clear();
  }
}

/** What a delivery says of a repository has to agree with what its host said when it was listed. */
function isOf({ address, hostId, facts }: RepoHost, pushed: ToldRepository): boolean {
  if (facts.codeHostType === 'genericGitHost')
    return pushed.cloneUrls.some((url) => plainUrl(url) === plainUrl(facts.cloneUrl));
  if (facts.codeHostType !== pushed.codeHostType) return false;
  const hosts = [address, facts.cloneUrl, facts.webUrl].flatMap(hostOf);
  if (pushed.hosts.length > 0 && !pushed.hosts.some((host) => hosts.includes(host))) return false;
  if (pushed.hostId !== undefined) return pushed.hostId === hostId;
  return pushed.path?.toLowerCase() === facts.path.toLowerCase();
}

/** Whether a repo was renamed, or moved, since it was listed. One that is known by its address alone is where that is. */
function isElsewhere(host: RepoHost | undefined, { path }: ToldRepository): boolean {
  if (host === undefined || host.facts.codeHostType === 'genericGitHost') return false;
  return path !== undefined && path !== host.facts.path;
}

function hostOf(address: string | undefined): string[] {
  return address !== undefined && URL.canParse(address) ? [new URL(address).host] : [];
}

/** Without what tells nothing of where it leads. */
function plainUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\.git$/, '');
}
