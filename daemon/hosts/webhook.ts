// What a code host tells of a repository (API.md 13.6): whether the delivery is the host's, which repository it is about, where
// that is now, whether somebody pushed to it, and who may see it. Nothing is asked, and nothing follows from it here.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import type { CodeHostType } from '../repos/records.ts';

/** A request as it came. */
export interface Delivery {
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** A repository as a delivery names it. What is absent, the host does not say; what is there has to agree. */
export interface ToldRepository {
  readonly codeHostType: CodeHostType;
  /** Names of the host, with ports that are not the usual ones; an own server may be known by several. Empty: not said. */
  readonly hosts: readonly string[];
  /** As HostRepo has it. */
  readonly hostId?: string;
  /** As HostRepo has it. */
  readonly path?: string;
  /** For connections to any git repository. */
  readonly cloneUrls: readonly string[];
}

export interface Webhook {
  /** As the host calls it; '': it does not say. */
  readonly event: string;
  /** Undefined: it is about no repository. */
  readonly told?: Told;
}

/** What a delivery of any event says. */
export interface Told {
  readonly repository: ToldRepository;
  /** Its branches or tags changed. */
  readonly isPush: boolean;
  /** Undefined: public, or not said. */
  readonly visibility: 'internal' | 'private' | undefined;
}

/** Unit: bytes. GitHub sends no more; what is longer proves nothing. */
export const DELIVERY_MAX = 25 * 1024 * 1024;

/**
 * Reads a delivery. Undefined: it is not proven that it comes from a host that knows the secret, so that nothing was read.
 *
 * @param secret  that of `settings.webhooks`
 */
export function readWebhook(delivery: Delivery, secret: SecretText): Webhook | undefined {
  if (!isProven(delivery, secret.reveal())) return undefined;
  const host = KINDS.find(({ header }) => delivery.headers[header] !== undefined);
  const event = (host && delivery.headers[host.header]) ?? '';
  if (host === undefined) return { event };
  const told = host.read(event, payloadOf(delivery));
  return told === undefined ? { event } : { event, told };
}

function isProven({ headers, body }: Delivery, secret: string): boolean {
  if (secret === '' || body.length > DELIVERY_MAX) return false;
  const token = headers['x-gitlab-token'];
  if (token !== undefined) return timingSafeEqual(digestOf(token), digestOf(secret));
  const signatures = [
    /^sha256=([0-9a-f]{64})$/i.exec(headers['x-hub-signature-256'] ?? ''),
    // That of GitHub is of SHA-1, and proves nothing.
    /^sha256=([0-9a-f]{64})$/i.exec(headers['x-hub-signature'] ?? ''),
    /^([0-9a-f]{64})$/i.exec(headers['x-gitea-signature'] ?? ''),
  ].filter((match) => match !== null);
  if (signatures.length === 0) return false;
  const expected = createHmac('sha256', secret).update(body).digest();
  return signatures.some(([, hex = '']) => timingSafeEqual(Buffer.from(hex, 'hex'), expected));
}

/** Of one length whatever the text, as comparing takes. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The JSON of a delivery, or of the field of a form that holds it; undefined: there is none. */
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
  readonly read: (event: string, payload: unknown) => Told | undefined;
}

const id = z.union([z.int().positive(), z.string().min(1)]).transform(String);
const path = z.string().min(1).max(1_000);
const url = z.string().max(2_000).optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

/** GitHub and Gitea, whose payloads are those of GitHub. */
const ofGithub = z.object({
  repository: z.object({
    id,
    full_name: path,
    html_url: url,
    clone_url: url,
    ssh_url: url,
    private: flag,
    internal: flag,
    visibility: z.enum(['public', 'internal', 'private']).optional().catch(undefined),
  }),
});
const ofGitlab = z.object({
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
const ofBitbucketServer = z.object({
  repository: z.object({
    id,
    slug: path,
    public: flag,
    project: z.object({ key: path }),
    links: z
      .object({ clone: z.array(z.object({ href: url })).max(10) })
      .optional()
      .catch(undefined),
  }),
});

/** Of one delivery the first counts: Gitea names events for those who know GitHub alone, too. */
const KINDS: readonly Kind[] = [
  { header: 'x-forgejo-event', read: githubReader('gitea') },
  { header: 'x-gitea-event', read: githubReader('gitea') },
  { header: 'x-gitlab-event', read: readGitlab },
  { header: 'x-event-key', read: readBitbucket },
  { header: 'x-github-event', read: githubReader('github') },
];

/** A deleted branch of Gitea is told of by the last one alone, as is a created one that holds nothing new. */
const GITHUB_PUSHES: ReadonlySet<string> = new Set(['push', 'create', 'delete']);

function githubReader(codeHostType: 'github' | 'gitea'): Kind['read'] {
  return (event, payload) => {
    const repository = ofGithub.safeParse(payload).data?.repository;
    if (repository === undefined) return undefined;
    const { id: hostId, full_name: path, html_url: page, clone_url: http, ssh_url } = repository;
    return {
      repository: { codeHostType, hostId, path, ...addresses([page], [http, ssh_url]) },
      isPush: GITHUB_PUSHES.has(event),
      visibility: ofGithubs(repository),
    };
  };
}

/** GitHub names it; Gitea says of what is not private that it may be internal. */
function ofGithubs(repository: z.output<typeof ofGithub>['repository']): Told['visibility'] {
  const named = repository.visibility ?? (repository.internal === true ? 'internal' : undefined);
  if (named === 'internal') return named;
  return named === 'private' || repository.private === true ? 'private' : undefined;
}

/** `Push Hook`, `Tag Push Hook`, and of those of a whole server what the payload calls so. */
const GITLAB_PUSHES: ReadonlySet<unknown> = new Set(['push', 'tag_push', 'repository_update']);
/** Source: GitLab's documents of its API, `visibility_level`. */
const GITLAB_LEVELS: Readonly<Record<number, Told['visibility']>> = {
  0: 'private',
  10: 'internal',
};

function readGitlab(_event: string, payload: unknown): Told | undefined {
  const { data } = ofGitlab.safeParse(payload);
  const name = z.object({ event_name: z.string() }).safeParse(payload).data?.event_name;
  if (data === undefined) return undefined;
  const {
    path_with_namespace: path,
    web_url: page,
    git_http_url: http,
    git_ssh_url: ssh,
    visibility_level: level = Infinity,
  } = data.project;
  return {
    repository: {
      codeHostType: 'gitlab',
      hostId: data.project_id,
      path,
      ...addresses([page], [http, ssh]),
    },
    isPush: GITLAB_PUSHES.has(name),
    visibility: GITLAB_LEVELS[level],
  };
}

const BITBUCKET_PUSHES: ReadonlySet<string> = new Set([
  'repo:push',
  'repo:refs_changed',
  'mirror:repo_synchronized',
]);

function readBitbucket(event: string, payload: unknown): Told | undefined {
  const isPush = BITBUCKET_PUSHES.has(event);
  const cloud = ofBitbucketCloud.safeParse(payload).data?.repository;
  if (cloud !== undefined) {
    const { uuid: hostId, full_name: path, links, is_private: isPrivate } = cloud;
    const place = addresses([links?.html?.href], []);
    const repository = { codeHostType: 'bitbucketCloud' as const, hostId, path, ...place };
    return { repository, isPush, visibility: isPrivate === true ? 'private' : undefined };
  }
  const server = ofBitbucketServer.safeParse(payload).data?.repository;
  if (server === undefined) return undefined;
  const { id: hostId, slug, project, links, public: isPublic } = server;
  const place = addresses([], links?.clone.map(({ href }) => href) ?? []);
  const path = `${project.key}/${slug}`;
  const repository = { codeHostType: 'bitbucketServer' as const, hostId, path, ...place };
  return { repository, isPush, visibility: isPublic === false ? 'private' : undefined };
}

type Address = string | undefined;

/** What addresses of pages and for cloning tell. */
function addresses(
  pages: readonly Address[],
  clones: readonly Address[],
): Pick<ToldRepository, 'hosts' | 'cloneUrls'> {
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
