// Asks a host which branches and tags a repository has, by git's own protocol over HTTP (version 2, and the answer of a host
// that knows only the first one), without a process: of a thousand repositories that nobody has pushed to, git would take tens
// of seconds of processors. Only the question is ours; whatever has changed is fetched by git. Source: gitprotocol-v2(5),
// gitprotocol-http(5), gitprotocol-pack(5).

import { LRUCache } from 'lru-cache';
import { answerFailure, type Question, statusFailure } from '../failures.ts';
import type { Fetch } from '../transport.ts';
import type { GitCredential, HostError } from '../host.ts';
import type { RemoteAddress } from '../remote-address.ts';
import { RefsTold, type RemoteRefs } from './remote-refs.ts';

const SERVICE = 'git-upload-pack';
const WHAT = `/info/refs?service=${SERVICE}`;
const COMMAND = `/${SERVICE}`;
const VERSION_HEADERS = { 'git-protocol': 'version=2', 'user-agent': 'git/trawl' };
/** Source: gitprotocol-common(5). */
const PACKET_SIZE_MAX = 65_520;

export interface HttpRemote {
  /** Where the host has the repository: its address, or where a redirect of the same host leads. */
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
 * What hashes the objects of repositories that were asked before, by address: what else the first answer says is known then.
 * Not of those that a redirect leads to, as that may end.
 */
const formats = new LRUCache<string, string>({ max: 100_000 });

/**
 * Where the repository is, and its branches and tags. One request where this process has asked before and the host speaks
 * version 2, else two.
 *
 * Errors: HostError, also of an answer that git did not write: git itself takes a page for people for a repository without
 * refs, served as files; the reason of the signal.
 */
export async function askOverHttp(question: HttpQuestion): Promise<HttpRemote> {
  const url = question.address.url.replace(/\/$/, '');
  const format = formats.get(url);
  // Why before: after whatever goes wrong the host is asked in full.
  formats.delete(url);
  const again = format === undefined ? undefined : await askAgain(question, url, format);
  if (again === undefined) return askAnew(question, url);
  formats.set(url, format);
  return again;
}

/** Undefined: it takes a question in full. Errors: as `askOverHttp`. */
async function askAgain(
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

async function askAnew(question: HttpQuestion, asked: string): Promise<HttpRemote> {
  const response = await send(question, asked + WHAT);
  if (!response.ok) throw refusal(response, question);
  try {
    const packets = await packetsOf(response, 'advertisement');
    if (!response.url.endsWith(WHAT)) throw new NoPacketsError('it comes from another address');
    const url = response.url.slice(0, -WHAT.length);
    const format = versionTwoFormat(packets);
    if (format === undefined) return { url, refs: toldAtOnce(packets) };
    const list = await send(question, url + COMMAND, listing(format));
    if (!list.ok) throw refusal(list, question);
    const refs = await listedIn(list);
    if (url === asked) formats.set(url, format);
    return { url, refs };
  } catch (error) {
    if (error instanceof NoPacketsError) throw answerFailure(error.message, questionOf(question));
    throw error;
  }
}

function questionOf({ address }: HttpQuestion): Question {
  return { host: address.host, what: `repository ${new URL(address.url).pathname}` };
}

/** Errors: HostError of no answer. */
function send(question: HttpQuestion, url: string, body?: string): Promise<Response> {
  const { credential, fetch, signal } = question;
  const headers = new Headers(VERSION_HEADERS);
  if (credential !== undefined) headers.set('authorization', basicOf(credential));
  if (body !== undefined) headers.set('content-type', `application/x-${SERVICE}-request`);
  const method = body === undefined ? 'GET' : 'POST';
  return fetch(url, { method, headers, signal, body: body ?? null });
}

/** What the host says of it is a page for people, or empty. */
function refusal({ status }: Response, question: HttpQuestion): HostError {
  return statusFailure(status, '', questionOf(question));
}

function basicOf({ user, password }: GitCredential): string {
  return `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`;
}

/** The question of version 2. */
function listing(format: string): string {
  const lines = ['symrefs', 'ref-prefix HEAD', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'];
  const head = [packet('command=ls-refs\n'), packet(`object-format=${format}\n`), '0001'];
  return [...head, ...lines.map((line) => packet(`${line}\n`)), '0000'].join('');
}

/** Errors: NoPacketsError. */
async function listedIn(response: Response): Promise<RemoteRefs> {
  const told = new RefsTold();
  for (const line of await packetsOf(response, 'result')) {
    if (line === '') break;
    const [id = '', name = '', ...attributes] = line.split(' ');
    add(told, id, name);
    const target = attributes.find((text) => text.startsWith('symref-target:'));
    if (name === 'HEAD' && target !== undefined)
      told.setHeadTarget(target.slice('symref-target:'.length));
  }
  return told.take();
}

/** The hash of a host that speaks version 2; undefined: it does not. */
function versionTwoFormat(packets: readonly string[]): string | undefined {
  if (!packets.includes('version 2')) return undefined;
  const capability = packets.find((line) => line.startsWith('object-format='));
  return capability?.slice('object-format='.length) ?? 'sha1';
}

/** What a host of the first version tells without being asked. */
function toldAtOnce(packets: readonly string[]): RemoteRefs {
  const told = new RefsTold();
  const lines = packets.filter((line) => line !== '' && !line.startsWith('# '));
  // Of an empty repository git before 2.41 tells nothing between the two ends.
  const isEmpty = packets.length === 3 && packets[0] === `# service=${SERVICE}`;
  if (lines.length === 0 && !isEmpty) throw new NoPacketsError('cut short');
  for (const line of lines) {
    const [ref = '', capabilities] = line.split('\0');
    const [, id = '', name = ''] = /^(\S+) (.+)$/.exec(ref) ?? [];
    // An empty repository has a line for its capabilities alone.
    if (name !== 'capabilities^{}') add(told, id, name);
    const [, target] = / symref=HEAD:(\S+)/.exec(` ${capabilities ?? ''}`) ?? [];
    if (target !== undefined) told.setHeadTarget(target);
  }
  return told.take();
}

function add(told: RefsTold, id: string, name: string): void {
  try {
    told.add(id, name);
  } catch {
    throw new NoPacketsError(`no ref: ${id} ${name}`);
  }
}

/** An answer is none of the protocol. */
class NoPacketsError extends Error {}

function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** The packets of an answer without their line ends, as latin1; "" for what only separates. Errors: NoPacketsError. */
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
  // What is missing must not count as gone.
  if (packets.at(-1) !== '') throw new NoPacketsError('cut short');
  return packets;
}
