// A real Gitea or Forgejo on loopback: its program and its files are in the folder named by TRAWL_TEST_GITEA
// (`gitea`, `options`, `templates`, `public`). An owner, an organization and a token are created.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { freePort } from '../hosts/mirrors/git-server.ts';
import { eventually } from './daemon.ts';

export const GITEA_FOLDER = process.env['TRAWL_TEST_GITEA'];
const PASSWORD = 'only-for-1-Test';

export interface RealGitea {
  readonly url: string;
  readonly token: string;
  /** Asks its API as its owner; answers the body, undefined where there is none. */
  send(method: string, route: string, body?: object): Promise<unknown>;
  /** An address that git may push to. */
  remoteOf(repository: string): string;
  /** Answers as if it were down. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** @param folder  the value of TRAWL_TEST_GITEA */
export async function startRealGitea(folder: string): Promise<RealGitea> {
  const home = temporaryFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = path.join(folder, 'gitea');
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    GITEA_WORK_DIR: home,
    GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true',
  };
  const file = writeConfiguration(home, folder, port);
  const run = (...args: string[]): string =>
    execFileSync(program, ['-c', file, ...args], { env, stdio: 'pipe' }).toString();
  run('migrate');
  const user = ['--username', 'boss', '--email', 'boss@example.com', '--password', PASSWORD];
  run('admin', 'user', 'create', '--admin', '--must-change-password=false', ...user);
  const scopes = ['--scopes', 'all', '--raw', '--username', 'boss', '--token-name', 'test'];
  // Behind what it may have to say of who runs it.
  const token = run('admin', 'user', 'generate-access-token', ...scopes)
    .trim()
    .split('\n')
    .at(-1)!;

  const send = async (method: string, route: string, body?: object): Promise<unknown> => {
    const reply = await fetch(`${url}/api/v1${route}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${route}: ${reply.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const ending = server;
    server = undefined;
    if (ending === undefined) return;
    const ended = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill();
    await ended;
  };
  const start = async (): Promise<void> => {
    server = spawn(program, ['-c', file, 'web'], { env, stdio: 'ignore' });
    await eventually(async () => {
      const isUp = await fetch(`${url}/api/v1/version`).then(
        (reply) => reply.ok,
        () => false,
      );
      return isUp;
    });
  };
  await start();
  const remoteOf = (repository: string): string =>
    `http://boss:${PASSWORD}@127.0.0.1:${port}/${repository}.git`;
  return { url, token, send, remoteOf, stop, start };
}

function writeConfiguration(home: string, folder: string, port: number): string {
  const file = path.join(home, 'app.ini');
  mkdirSync(path.join(home, 'data'), { recursive: true });
  const sections: Record<string, Record<string, string | number | boolean>> = {
    '': { RUN_USER: process.env['USER'] ?? 'root', RUN_MODE: 'prod', WORK_PATH: home },
    server: {
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: port,
      ROOT_URL: `http://127.0.0.1:${port}/`,
      DISABLE_SSH: true,
      OFFLINE_MODE: true,
      STATIC_ROOT_PATH: folder,
    },
    database: { DB_TYPE: 'sqlite3', PATH: path.join(home, 'data', 'gitea.db') },
    security: { INSTALL_LOCK: true, SECRET_KEY: 'of-the-test' },
    service: { DISABLE_REGISTRATION: true },
    webhook: { ALLOWED_HOST_LIST: 'loopback' },
    repository: { ROOT: path.join(home, 'repositories') },
    log: { LEVEL: 'Error' },
  };
  const text = Object.entries(sections).map(([name, members]) => {
    const lines = Object.entries(members).map(([key, value]) => `${key} = ${value}`);
    return [...(name === '' ? [] : [`[${name}]`]), ...lines].join('\n');
  });
  writeFileSync(file, `${text.join('\n')}\n`);
  return file;
}
