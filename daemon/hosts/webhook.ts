// Parses a code host's webhook delivery (API.md 13.6): its authenticity, repository and current address, whether it is a
// push, and the visibility. Sends no requests and changes nothing.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import type { CodeHostType } from '../repos/records.ts';
import { isNameTooLong } from '../repos/repo-name.ts';

/** A received request. */
export interface Delivery {
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** A repository in a delivery. Absent members are unknown; present ones must match. */
export interface WebhookRepository {
  readonly codeHostType: CodeHostType;
  /** Host names, with non-default ports; an own server may have several. Empty: unknown. */
  readonly hosts: readonly string[];
  /** As HostRepo has it. */
  readonly hostId?: string;
  /** As HostRepo has it. */
  readonly path?: string;
  /** For connections to any git repository. */
  readonly cloneUrls: readonly string[];
}

export interface Webhook {
  /** The host's name of the event; '': none. */
  readonly event: string;
  /** Undefined: no repository is concerned. */
  readonly change?: WebhookChange;
}

/** Contents of a delivery, whatever the event. */
export interface WebhookChange {
  readonly repository: WebhookRepository;
  /** Its branches or tags changed. */
  readonly isPush: boolean;
  /** Undefined: public, or unknown. */
  readonly visibility: 'internal' | 'private' | undefined;
  /** When, as the host says (ms since the epoch). Absent: it does not say; the times of commits are their authors'. */
  readonly pushedAt?: number;
}

/**
 * Reads a delivery. Undefined: no proof that the sender knows the secret; nothing was read.
 * @param secret  that of `settings.webhooks`
 */
export function readWebhook(delivery: Delivery, secret: SecretText): Webhook | undefined {
  if (!isProven(delivery, secret.reveal())) return undefined;
  const host = KINDS.find(({ header }) => delivery.headers[header] !== undefined);
  const event = (host && delivery.headers[host.header]) ?? '';
  if (host === undefined) return { event };
  const change = host.read(event, payloadOf(delivery));
  return change === undefined ? { event } : { event, change };
}

function isProven({ headers, body }: Delivery, secret: string): boolean {
  if (secret === '') return false;
  const token = headers['x-gitlab-token'];
  if (token !== undefined) return timingSafeEqual(digestOf(token), digestOf(secret));
  const signatures = [
    /^sha256=([0-9a-f]{64})$/i.exec(headers['x-hub-signature-256'] ?? ''),
    // GitHub's other signature uses SHA-1, and proves nothing.
    /^sha256=([0-9a-f]{64})$/i.exec(headers['x-hub-signature'] ?? ''),
    /^([0-9a-f]{64})$/i.exec(headers['x-gitea-signature'] ?? ''),
  ].filter((match) => match !== null);
  if (signatures.length === 0) return false;
  const expected = createHmac('sha256', secret).update(body).digest();
  return signatures.some(([, hex = '']) => timingSafeEqual(Buffer.from(hex, 'hex'), expected));
}

/** Fixed length for any text, as the comparison requires. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The JSON of a delivery, or of the form field with it; undefined: none. */
function payloadOf({ headers, body }: Delivery): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  try {
    return JSON.parse((isForm ? new URLSearchParams(text).get('payload') : text) ?? '');
  } catch {
    return undefined;
  }
}

interface Kind {
  /** Names the event. */
  readonly header: string;
  readonly read: (event: string, payload: unknown) => WebhookChange | undefined;
}

const id = z.union([z.int().positive(), z.string().min(1)]).transform(String);
const path = z
  .string()
  .min(1)
  .refine((text) => !isNameTooLong(text));
const url = z.string().max(2_000).optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

/** GitHub and Gitea, which has GitHub's payloads. */
const ofGithub = z.object({
  repository: z.object({
    id,
    full_name: path,
    html_url: url,
    clone_url: url,
    ssh_url: url,
    private: flag,
    /** Gitea only: not private itself, but its owner is visible only to members. */
    internal: flag,
    owner: z.object({ visibility: z.string().optional() }).optional().catch(undefined),
    /** Seconds, or text. Only GitHub. */
    pushed_at: z.union([z.number(), z.string()]).optional().catch(undefined),
    visibility: z.enum(['public', 'internal', 'private']).optional().catch(undefined),
  }),
});
const ofGitlab = z.object({
  event_name: z.string().optional().catch(undefined),
  project_id: id,
  project: z.object({
    path_with_namespace: path,
    web_url: url,
    git_http_url: url,
    git_ssh_url: url,
    visibility_level: z.int().optional().catch(undefined),
  }),
});
const ofBitbucketCloud = z.object({
  repository: z.object({
    uuid: id,
    full_name: path,
    is_private: flag,
    links: z.object({ html: z.object({ href: url }).optional() }).optional(),
  }),
});
const bitbucketServerRepository = z.object({
  id,
  slug: path,
  public: flag,
  project: z.object({ key: path, public: flag }),
  links: z
    .object({ clone: z.array(z.object({ href: url })).max(10) })
    .optional()
    .catch(undefined),
});
const ofBitbucketServer = z.object({
  date: z.string().optional().catch(undefined),
  repository: bitbucketServerRepository.optional(),
  /** Of `repo:modified`, in place of `repository`. */
  new: bitbucketServerRepository.optional().catch(undefined),
});

/** The first match counts: Gitea also sends GitHub's header. */
const KINDS: readonly Kind[] = [
  { header: 'x-forgejo-event', read: githubReader('gitea') },
  { header: 'x-gitea-event', read: githubReader('gitea') },
  { header: 'x-gitlab-event', read: readGitlab },
  { header: 'x-event-key', read: readBitbucket },
  { header: 'x-github-event', read: githubReader('github') },
];

/** Events after which branches or tags differ, of all kinds of host. */
const PUSHES: ReadonlySet<unknown> = new Set([
  'push',
  // Gitea reports a deleted branch only by `delete`, and a created one without new commits only by `create`.
  'create',
  'delete',
  // GitLab: in the payload, for hooks of projects and of the system.
  'tag_push',
  'repository_update',
  // Bitbucket.
  'repo:push',
  'repo:refs_changed',
  'mirror:repo_synchronized',
]);

function githubReader(codeHostType: 'github' | 'gitea'): Kind['read'] {
  return (event, payload) => {
    const repository = ofGithub.safeParse(payload).data?.repository;
    if (repository === undefined) return undefined;
    const { id: hostId, full_name: path, html_url: page, clone_url: http, ssh_url } = repository;
    return {
      repository: { codeHostType, hostId, path, ...addresses([page], [http, ssh_url]) },
      isPush: PUSHES.has(event),
      visibility: ofGithubs(repository),
      ...pushedAt(repository.pushed_at),
    };
  };
}

/** GitHub reports it; Gitea has flags, and that of the owner, as in listings. */
function ofGithubs(
  repository: z.output<typeof ofGithub>['repository'],
): WebhookChange['visibility'] {
  const { visibility, private: isPrivate, internal, owner } = repository;
  if (visibility === 'internal') return visibility;
  const ofOwner = owner?.visibility ?? 'public';
  if (visibility === 'private' || isPrivate === true || internal === true) return 'private';
  if (ofOwner === 'public') return undefined;
  return ofOwner === 'limited' ? 'internal' : 'private';
}

/** Source: GitLab's documents of its API, `visibility_level`. */
const GITLAB_LEVELS: Readonly<Record<number, WebhookChange['visibility']>> = {
  0: 'private',
  10: 'internal',
};

function readGitlab(_event: string, payload: unknown): WebhookChange | undefined {
  const { data } = ofGitlab.safeParse(payload);
  if (data === undefined) return undefined;
  const { project, project_id: hostId, event_name: event } = data;
  const location = addresses([project.web_url], [project.git_http_url, project.git_ssh_url]);
  const path = project.path_with_namespace;
  return {
    repository: { codeHostType: 'gitlab', hostId, path, ...location },
    isPush: PUSHES.has(event),
    visibility: GITLAB_LEVELS[project.visibility_level ?? Infinity],
  };
}

function readBitbucket(event: string, payload: unknown): WebhookChange | undefined {
  const isPush = PUSHES.has(event);
  const cloud = ofBitbucketCloud.safeParse(payload).data?.repository;
  if (cloud !== undefined) {
    const { uuid: hostId, full_name: path, links, is_private: isPrivate } = cloud;
    const location = addresses([links?.html?.href], []);
    const repository = { codeHostType: 'bitbucketCloud' as const, hostId, path, ...location };
    return { repository, isPush, visibility: isPrivate === true ? 'private' : undefined };
  }
  const { data } = ofBitbucketServer.safeParse(payload);
  const server = data?.repository ?? data?.new;
  if (server === undefined) return undefined;
  const { id: hostId, slug, project, links, public: isPublic } = server;
  const location = addresses([], links?.clone.map(({ href }) => href) ?? []);
  const path = `${project.key}/${slug}`;
  const repository = { codeHostType: 'bitbucketServer' as const, hostId, path, ...location };
  // All repositories of a public project are public.
  const visibility = isPublic === false && project.public !== true ? 'private' : undefined;
  return { repository, isPush, visibility, ...pushedAt(data?.date) };
}

/** @param time  seconds since the epoch, or text */
function pushedAt(time: number | string | undefined): Pick<WebhookChange, 'pushedAt'> {
  const timeMs = typeof time === 'number' ? time * 1000 : Date.parse(time ?? '');
  return Number.isFinite(timeMs) ? { pushedAt: timeMs } : {};
}

type Address = string | undefined;

/** Hosts of all addresses, and the clone addresses. */
function addresses(
  pages: readonly Address[],
  clones: readonly Address[],
): Pick<WebhookRepository, 'hosts' | 'cloneUrls'> {
  const hosts = [...pages, ...clones].flatMap((address) =>
    address !== undefined && /^https?:/i.test(address) && URL.canParse(address)
      ? [new URL(address).host]
      : [],
  );
  return {
    hosts: [...new Set(hosts)],
    cloneUrls: [
      ...new Set(clones.filter((address) => address !== undefined && address !== '')),
    ].map(String),
  };
}
