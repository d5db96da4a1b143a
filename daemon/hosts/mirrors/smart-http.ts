// Lists the branches and tags of a repository by git's own HTTP protocol (version 2, and version 1 answers), without a
// process: for a thousand unchanged repositories git would take tens of seconds of processor time. Only the listing is
// ours; git fetches what has changed. Source: gitprotocol-v2(5), gitprotocol-http(5), gitprotocol-pack(5).

import { LRUCache } from 'lru-cache';
import { answerFailure, type Question, statusFailure } from '../failures.ts';
import { basicOf } from '../plain-api.ts';
import type { Fetch } from '../transport.ts';
import type { GitCredential, HostError } from '../host.ts';
import type { RemoteAddress } from '../remote-address.ts';
import { RefCollector, type RemoteRefs } from './remote-refs.ts';

const SERVICE = 'git-upload-pack';
const WHAT = `/info/refs?service=${SERVICE}`;
const COMMAND = `/${SERVICE}`;
const VERSION_HEADERS = { 'git-protocol': 'version=2', 'user-agent': 'git/trawl' };
/** Source: gitprotocol-common(5). */
const PACKET_SIZE_MAX = 65_520;

export interface HttpRemote {
  /** Address of the repository, after a redirect within the same host. */
  readonly url: string;
  readonly refs: RemoteRefs;
}

export interface HttpQuestion {
  readonly address: RemoteAddress;
  readonly credential: GitCredential | undefined;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

/**
 * Object hash of known repositories, by address: it makes their first request unnecessary. Not of redirected ones, as a
 * redirect may end.
 */
const formats = new LRUCache<string, string>({ max: 100_000 });

/**
 * Address, branches and tags of the repository. One request if this process has asked before and the host speaks version 2,
 * else two. Errors: HostError, also for an answer not written by git: git itself takes an HTML page for a repository without
 * refs, served as files; the reason of the signal.
 */
export async function listOverHttp(question: HttpQuestion): Promise<HttpRemote> {
  const url = question.address.url.replace(/\/$/, '');
  const format = formats.get(url);
  // Why before: after any failure the full exchange is repeated.
  formats.delete(url);
  const again = format === undefined ? undefined : await listAgain(question, url, format);
  if (again === undefined) return listAnew(question, url);
  formats.set(url, format);
  return again;
}

/** Undefined: the full exchange is needed. Errors: as `listOverHttp`. */
async function listAgain(
  question: HttpQuestion,
  url: string,
  format: string,
): Promise<HttpRemote | undefined> {
  const response = await send(question, url + COMMAND, listing(format));
  if (response.status >= 500) throw refusal(response, question);
  if (!response.ok || response.url !== url + COMMAND) return undefined;
  try {
    return { url, refs: await listedIn(response) };
  } catch (error) {
    if (error instanceof NoPacketsError) return undefined;
    throw error;
  }
}

async function listAnew(question: HttpQuestion, baseUrl: string): Promise<HttpRemote> {
  const response = await send(question, baseUrl + WHAT);
  if (!response.ok) throw refusal(response, question);
  try {
    const packets = await packetsOf(response, 'advertisement');
    if (!response.url.endsWith(WHAT)) throw new NoPacketsError('it comes from another address');
    const url = response.url.slice(0, -WHAT.length);
    const format = versionTwoFormat(packets);
    if (format === undefined) return { url, refs: advertisedRefs(packets) };
    const list = await send(question, url + COMMAND, listing(format));
    if (!list.ok) throw refusal(list, question);
    const refs = await listedIn(list);
    if (url === baseUrl) formats.set(url, format);
    return { url, refs };
  } catch (error) {
    if (error instanceof NoPacketsError) throw answerFailure(error.message, questionOf(question));
    throw error;
  }
}

function questionOf({ address }: HttpQuestion): Question {
  return { host: address.host, what: `repository ${new URL(address.url).pathname}` };
}

/** Errors: HostError without an answer. */
function send(question: HttpQuestion, url: string, body?: string): Promise<Response> {
  const { credential, fetch, signal } = question;
  const headers = new Headers(VERSION_HEADERS);
  if (credential !== undefined)
    headers.set('authorization', basicOf(credential.user, credential.password));
  if (body !== undefined) headers.set('content-type', `application/x-${SERVICE}-request`);
  const method = body === undefined ? 'GET' : 'POST';
  return fetch(url, { method, headers, signal, body: body ?? null });
}

/** The host's message is an HTML page, or empty. */
function refusal({ status }: Response, question: HttpQuestion): HostError {
  return statusFailure(status, '', questionOf(question));
}

/** The version 2 request. */
function listing(format: string): string {
  const lines = ['symrefs', 'ref-prefix HEAD', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'];
  const head = [packet('command=ls-refs\n'), packet(`object-format=${format}\n`), '0001'];
  return [...head, ...lines.map((line) => packet(`${line}\n`)), '0000'].join('');
}

/** Errors: NoPacketsError. */
async function listedIn(response: Response): Promise<RemoteRefs> {
  const collector = new RefCollector();
  for (const line of await packetsOf(response, 'result')) {
    if (line === '') break;
    const [id = '', name = '', ...attributes] = line.split(' ');
    add(collector, id, name);
    const target = attributes.find((text) => text.startsWith('symref-target:'));
    if (name === 'HEAD' && target !== undefined)
      collector.setHeadTarget(target.slice('symref-target:'.length));
  }
  return collector.take();
}

/** The object hash of a version 2 host; undefined: another version. */
function versionTwoFormat(packets: readonly string[]): string | undefined {
  if (!packets.includes('version 2')) return undefined;
  const capability = packets.find((line) => line.startsWith('object-format='));
  return capability?.slice('object-format='.length) ?? 'sha1';
}

/** Refs in the first answer of a version 1 host. */
function advertisedRefs(packets: readonly string[]): RemoteRefs {
  const collector = new RefCollector();
  const lines = packets.filter((line) => line !== '' && !line.startsWith('# '));
  // For an empty repository git before 2.41 sends nothing between the two ends.
  const isEmpty = packets.length === 3 && packets[0] === `# service=${SERVICE}`;
  if (lines.length === 0 && !isEmpty) throw new NoPacketsError('cut short');
  for (const line of lines) {
    const [ref = '', capabilities] = line.split('\0');
    const [, id = '', name = ''] = /^(\S+) (.+)$/.exec(ref) ?? [];
    // An empty repository has one line with only its capabilities.
    if (name !== 'capabilities^{}') add(collector, id, name);
    const [, target] = / symref=HEAD:(\S+)/.exec(` ${capabilities ?? ''}`) ?? [];
    if (target !== undefined) collector.setHeadTarget(target);
  }
  return collector.take();
}

function add(collector: RefCollector, id: string, name: string): void {
  try {
    collector.add(id, name);
  } catch {
    throw new NoPacketsError(`no ref: ${id} ${name}`);
  }
}

/** The answer is not of this protocol. */
class NoPacketsError extends Error {}

function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** The packets of an answer without line ends, as latin1; "" for separators. Errors: NoPacketsError. */
async function packetsOf(response: Response, kind: 'advertisement' | 'result'): Promise<string[]> {
  const type = response.headers.get('content-type');
  if (type !== `application/x-${SERVICE}-${kind}`) throw new NoPacketsError(`${type}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const packets: string[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const digits = bytes.toString('latin1', offset, offset + 4);
    const size = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    const end = offset + Math.max(size, 4);
    if (!(size <= 2 || (size >= 4 && size <= PACKET_SIZE_MAX)) || end > bytes.length)
      throw new NoPacketsError('packets without an end');
    packets.push(bytes.toString('latin1', offset + 4, end).replace(/\n$/, ''));
    offset = end;
  }
  // Missing refs must not count as deleted.
  if (packets.at(-1) !== '') throw new NoPacketsError('cut short');
  return packets;
}
