// What a code host tells when somebody pushes (API.md 13.6): whether the delivery is the host's, and which repository it is
// about. Nothing is asked, and nothing follows from it here.

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
export interface PushedRepository {
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
  /** Undefined: the event is another one. */
  readonly pushed?: PushedRepository;
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
  const pushed = host.read(event, payloadOf(delivery));
  return pushed === undefined ? { event } : { event, pushed };
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
  readonly read: (event: string, payload: unknown) => PushedRepository | undefined;
}

const id = z.union([z.int().positive(), z.string().min(1)]).transform(String);
const path = z.string().min(1).max(1_000);
const url = z.string().max(2_000).optional().catch(undefined);

/** GitHub and Gitea, whose payloads are those of GitHub. */
const ofGithub = z.object({
  repository: z.object({ id, full_name: path, html_url: url, clone_url: url, ssh_url: url }),
});
const ofGitlab = z.object({
  project_id: id,
  project: z.object({
    path_with_namespace: path,
    web_url: url,
    git_http_url: url,
    git_ssh_url: url,
  }),
});
const ofBitbucketCloud = z.object({
  repository: z.object({
    uuid: id,
    full_name: path,
    links: z.object({ html: z.object({ href: url }).optional() }).optional(),
  }),
});
const ofBitbucketServer = z.object({
  repository: z.object({
    id,
    slug: path,
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

function githubReader(codeHostType: 'github' | 'gitea'): Kind['read'] {
  return (event, payload) => {
    const { data } = ofGithub.safeParse(payload);
    if (event !== 'push' || data === undefined) return undefined;
    const { id, full_name: path, html_url: page, clone_url: http, ssh_url: ssh } = data.repository;
    return { codeHostType, hostId: id, path, ...addresses([page], [http, ssh]) };
  };
}

/** `Push Hook`, `Tag Push Hook`, and of those of a whole server what the payload calls so. */
const GITLAB_PUSHES: ReadonlySet<unknown> = new Set(['push', 'tag_push', 'repository_update']);

function readGitlab(_event: string, payload: unknown): PushedRepository | undefined {
  const { data } = ofGitlab.safeParse(payload);
  const name = z.object({ event_name: z.string() }).safeParse(payload).data?.event_name;
  if (data === undefined || !GITLAB_PUSHES.has(name)) return undefined;
  const {
    path_with_namespace: path,
    web_url: page,
    git_http_url: http,
    git_ssh_url: ssh,
  } = data.project;
  return {
    codeHostType: 'gitlab',
    hostId: data.project_id,
    path,
    ...addresses([page], [http, ssh]),
  };
}

function readBitbucket(event: string, payload: unknown): PushedRepository | undefined {
  if (event === 'repo:push') {
    const repository = ofBitbucketCloud.safeParse(payload).data?.repository;
    if (repository === undefined) return undefined;
    const { uuid: hostId, full_name: path, links } = repository;
    return { codeHostType: 'bitbucketCloud', hostId, path, ...addresses([links?.html?.href], []) };
  }
  if (event !== 'repo:refs_changed' && event !== 'mirror:repo_synchronized') return undefined;
  const repository = ofBitbucketServer.safeParse(payload).data?.repository;
  if (repository === undefined) return undefined;
  const { id: hostId, slug, project, links } = repository;
  const clones = links?.clone.map(({ href }) => href) ?? [];
  return {
    codeHostType: 'bitbucketServer',
    hostId,
    path: `${project.key}/${slug}`,
    ...addresses([], clones),
  };
}

type Address = string | undefined;

/** What addresses of pages and for cloning tell. */
function addresses(
  pages: readonly Address[],
  clones: readonly Address[],
): Pick<PushedRepository, 'hosts' | 'cloneUrls'> {
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
