// A folder of real repositories served by git's own http-backend, for those who know user and password.

import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { startServer, type Asked, type RunningServer, type WebhookChange } from './servers.ts';

export function startGitServer(
  t: Pick<TestContext, 'after'>,
  folder: string,
  credential?: string,
): Promise<RunningServer> {
  const basic = credential && `Basic ${Buffer.from(credential).toString('base64')}`;
  return startServer(t, (asked) => {
    if (basic === undefined || asked.headers.authorization === basic) return backend(folder, asked);
    return { status: 401, headers: { 'www-authenticate': 'Basic realm="git"' }, body: 'who?' };
  });
}

/** Runs the backend as a web server does (CGI). */
async function backend(folder: string, asked: Asked): Promise<WebhookChange> {
  const program = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(asked.headers['git-protocol'] ?? ''),
      REQUEST_METHOD: asked.method,
      PATH_INFO: asked.path,
      QUERY_STRING: asked.query.toString(),
      CONTENT_TYPE: asked.headers['content-type'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  program.stdin.on('error', () => {}); // it may end without reading
  program.stdin.end(asked.body);
  const chunks: Buffer[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk as Buffer);
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf('\r\n\r\n');
  const lines = answer.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(': ')[0]!.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
  );
  const status = Number.parseInt(headers['status'] ?? '200', 10);
  return { status, headers, body: answer.subarray(end + 4) };
}
