// A code host for tests and measurements, in a process of its own: the listing of an organisation in the shape of GitHub's
// interface, and git over HTTP by `git http-backend`, each request a little late, as over a network.
//   node build/test/hosts/code-host.js FOLDER COUNT DELAY_MS
// A repository with a file `host-id` has the id that this names, one with a file `is-private` is private.
// Lists COUNT repositories: the bare ones of FOLDER as they are then, and further names without git if there are fewer; 0: just
// those that are there. Prints its address.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder = '', count = '1000', delay = '2'] = process.argv.slice(2);
const ORG = 'acme';
const PAGE_SIZE_MAX = 100;

function namesNow(): string[] {
  const there = readdirSync(folder)
    .filter((name) => name.endsWith('.git'))
    .map((name) => name.slice(0, -'.git'.length))
    .sort();
  if (Number(count) === 0) return there;
  const names = there.slice(0, Number(count));
  for (let i = names.length; i < Number(count); i++) names.push(`listed-${i}`);
  return names;
}

const server = createServer((request, response) => {
  void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await sleep(Number(delay));
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
  const api = url.pathname.replace(/^\/api\/v3/, '');
  if (api === url.pathname) answerGit(request, response, url);
  else if (api === `/orgs/${ORG}/repos`) answerJson(response, ...page(url));
  else if (namesNow().some((name) => api === `/repos/${ORG}/${name}`))
    answerJson(response, repoOf(url.origin, path.basename(api)));
  else if (api === `/orgs/${ORG}`)
    answerJson(response, { login: ORG, id: 1, type: 'Organization' });
  else if (api === '/meta') answerJson(response, {});
  else if (api === '/user') answerJson(response, { login: 'bench', id: 2, type: 'User' });
  else answerJson(response, { message: 'Not Found' }, { ':status': 404 });
}

function page(url: URL): [object, Record<string, string>] {
  const size = Math.min(PAGE_SIZE_MAX, Number(url.searchParams.get('per_page') ?? 30));
  const number = Number(url.searchParams.get('page') ?? 1);
  const names = namesNow();
  const last = Math.max(1, Math.ceil(names.length / size));
  const start = (number - 1) * size;
  const rows = names.slice(start, start + size).map((name) => repoOf(url.origin, name));
  const linkTo = (to: number, rel: string): string => {
    const target = new URL(url);
    target.searchParams.set('page', String(to));
    return `<${target.href}>; rel="${rel}"`;
  };
  const links = number < last ? [linkTo(number + 1, 'next'), linkTo(last, 'last')] : [];
  return [rows, links.length === 0 ? {} : { link: links.join(', ') }];
}

/** Depends on the name, or on the file. */
function idOf(name: string): number {
  const file = path.join(folder, `${name}.git`, 'host-id');
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
  return Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 8), 16);
}

function repoOf(origin: string, name: string): object {
  const id = idOf(name);
  const fullName = `${ORG}/${name}`;
  const isPrivate = existsSync(path.join(folder, `${name}.git`, 'is-private'));
  return {
    id,
    node_id: `R_${id}`,
    name,
    full_name: fullName,
    private: isPrivate,
    owner: { login: ORG, id: 1, type: 'Organization', avatar_url: `${origin}/avatar/1` },
    html_url: `${origin}/${fullName}`,
    description: null,
    fork: false,
    url: `${origin}/api/v3/repos/${fullName}`,
    clone_url: `${origin}/${fullName}.git`,
    ssh_url: `git@127.0.0.1:${fullName}.git`,
    created_at: '2024-01-01T00:00:00Z',
    updated_at: pushedAt(name),
    pushed_at: pushedAt(name),
    size: 260,
    archived: false,
    disabled: false,
    visibility: isPrivate ? 'private' : 'public',
    default_branch: 'main',
    topics: id % 2 === 0 ? ['even'] : [],
    permissions: { admin: false, push: false, pull: true },
  };
}

function pushedAt(name: string): string {
  const stat = statSync(path.join(folder, `${name}.git`), { throwIfNoEntry: false });
  return (stat?.mtime ?? new Date(0)).toISOString();
}

function answerJson(
  response: ServerResponse,
  body: object,
  { ':status': status = '200', ...headers }: Record<string, string | number> = {},
): void {
  response.writeHead(Number(status), {
    'content-type': 'application/json; charset=utf-8',
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
    ...headers,
  });
  response.end(JSON.stringify(body));
}

/** `/acme/NAME.git/...` by the CGI program of git. */
function answerGit(request: IncomingMessage, response: ServerResponse, url: URL): void {
  const git = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: url.pathname.replace(`/${ORG}`, ''),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  git.stdin.on('error', () => undefined);
  request.pipe(git.stdin);
  let head: Buffer | undefined = Buffer.alloc(0);
  git.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    sendHead(response, head.subarray(0, end).toString('latin1'));
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  git.on('close', () => response.end());
}

function sendHead(response: ServerResponse, text: string): void {
  const fields = text.split('\r\n').map((line): [string, string] => {
    const [name = '', ...rest] = line.split(':');
    return [name.toLowerCase(), rest.join(':').trim()];
  });
  const status = fields.find(([name]) => name === 'status')?.[1] ?? '200';
  response.writeHead(
    Number(status.split(' ')[0]),
    Object.fromEntries(fields.filter(([name]) => name !== 'status')),
  );
}
