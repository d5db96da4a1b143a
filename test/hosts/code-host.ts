// A code host for tests and measurements, in a process of its own: the API of GitHub (github-server.ts) and git over HTTP
// (mirrors/git-server.ts), each answer a little late, as over a network.
//   node build/test/hosts/code-host.js FOLDER COUNT DELAY_MS
// A repository with a file `host-id` has the id that this names, one with a file `is-private` is private.
// Lists COUNT repositories of the organisation acme: the bare ones of FOLDER as they are then, and further names without git if
// there are fewer; 0: just those that are there. Prints its address.

import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { answerAsGithub, type FakeRepository, githubState, idOf } from './github-server.ts';
import { GitServer } from './mirrors/git-server.ts';

const [folder = '', count = '1000', delay = '2'] = process.argv.slice(2);
const root = temporaryFolder();
symlinkSync(folder, path.join(root, 'acme'));
// The folder is removed at an exit.
process.once('SIGTERM', () => process.exit());
const server = await GitServer.start({ after: () => {} }, { root });
server.delayMs = Number(delay);
server.answer = answerApi;
process.stdout.write(`${server.url}\n`);

function answerApi(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname, searchParams: query } = new URL(request.url ?? '', server.url);
  if (!pathname.startsWith('/api/')) return false;
  const { method = '', headers } = request;
  // Any token is that of somebody who sees everything.
  const token = headers.authorization?.replace(/^\w+ /, '') ?? '';
  const state = githubState({
    repositories: namesNow().map(repoOf),
    tokens: new Map([[token, 'ann']]),
  });
  const requested = { method, path: pathname, query, headers, body: '' };
  const { status = 200, headers: more, body } = answerAsGithub(requested, state);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...more });
  response.end(JSON.stringify(body));
  return true;
}

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

function repoOf(name: string): FakeRepository {
  const bare = path.join(folder, `${name}.git`);
  const idFile = path.join(bare, 'host-id');
  const id = existsSync(idFile) ? Number(readFileSync(idFile, 'utf8')) : idOf(name);
  const pushed = statSync(bare, { throwIfNoEntry: false })?.mtime ?? new Date(0);
  return {
    id,
    path: `acme/${name}`,
    visibility: existsSync(path.join(bare, 'is-private')) ? 'private' : 'public',
    topics: id % 2 === 0 ? ['even'] : [],
    pushedAt: pushed.toISOString(),
  };
}
