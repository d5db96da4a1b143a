// A private PostgreSQL server for tests: its own cluster in a temporary folder, reached by a unix socket
// there, gone after the tests. Not the one that the Debian package starts. Where PostgreSQL is not
// installed, or there is no user it could run as, `POSTGRES_MISSING` says why tests are skipped.

import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';

const INSTALLED = '/usr/lib/postgresql';

export interface PostgresServer {
  /** Address of a new database: empty, or a copy of one that nobody is connected to. */
  createDatabase(original?: string): Promise<string>;
  /** Runs statements on a database of this server, as its superuser. */
  run(databaseUrl: string, text: string): Promise<Record<string, unknown>[]>;
  /** `fast` ends all connections, `immediate` is like a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Where the programs of the newest version are; undefined: not installed. */
function findPrograms(): string | undefined {
  if (!existsSync(INSTALLED)) return undefined;
  return readdirSync(INSTALLED)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => path.join(INSTALLED, version, 'bin'))
    .find((folder) => existsSync(path.join(folder, 'initdb')));
}

/** Who the server runs as: PostgreSQL refuses root. */
function findOwner(): Owner | undefined {
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const uid = process.getuid?.();
  if (uid !== 0) return rows.find((row) => row.uid === uid);
  return rows.find(({ name }) => name === 'postgres') ?? rows.find(({ name }) => name === 'nobody');
}

const programs = findPrograms();
const owner = programs === undefined ? undefined : findOwner();

/** Why there can be no server here; undefined: there can. */
export const POSTGRES_MISSING: string | undefined =
  programs === undefined
    ? 'PostgreSQL is not installed: Debian package postgresql'
    : owner === undefined
      ? 'there is no user that PostgreSQL could run as'
      : undefined;

export async function startPostgres(): Promise<PostgresServer> {
  if (programs === undefined || owner === undefined) throw new Error(POSTGRES_MISSING);
  // Why /tmp: the path of a socket may have 107 bytes.
  const folder = mkdtempSync('/tmp/trawl-pg-');
  chownSync(folder, owner.uid, owner.gid);
  const server = new Server(programs, folder, owner);
  server.initialize();
  await server.start();
  return server;
}

class Server implements PostgresServer {
  readonly #programs: string;
  readonly #folder: string;
  readonly #owner: Owner;
  readonly #exitHook = (): void => this.#removeAtExit();
  #process: ChildProcess | undefined;
  #databaseCount = 0;

  constructor(programs: string, folder: string, owner: Owner) {
    this.#programs = programs;
    this.#folder = folder;
    this.#owner = owner;
    process.on('exit', this.#exitHook);
  }

  get #options(): SpawnOptions {
    const { uid, gid } = this.#owner;
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    return {
      ...identity,
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    };
  }

  get #data(): string {
    return path.join(this.#folder, 'data');
  }

  initialize(): void {
    const options = ['--no-sync', '--auth=trust', '--encoding=UTF8', '--username=trawl'];
    const result = spawnSync(path.join(this.#programs, 'initdb'), [...options, this.#data], {
      ...this.#options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (result.status !== 0) throw new Error(`initdb: ${String(result.stderr)}`);
  }

  async start(): Promise<void> {
    const settings = ['listen_addresses=', 'max_connections=40', 'shared_buffers=16MB'];
    const options = settings.flatMap((setting) => ['-c', setting]);
    this.#process = spawn(
      path.join(this.#programs, 'postgres'),
      ['-D', this.#data, '-k', this.#folder, '-c', 'fsync=off', ...options],
      { ...this.#options, stdio: 'ignore' },
    );
    for (let attempt = 0; ; attempt++) {
      try {
        await this.run(this.#url('postgres'), 'SELECT 1');
        return;
      } catch (error) {
        if (attempt === 300 || this.#process.exitCode !== null) throw error;
        await setTimeout(50);
      }
    }
  }

  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await exited;
  }

  async createDatabase(original?: string): Promise<string> {
    const name = `trawl_${++this.#databaseCount}`;
    const template = original === undefined ? 'template1' : new URL(original).pathname.slice(1);
    await this.run(this.#url('postgres'), `CREATE DATABASE ${name} TEMPLATE ${template}`);
    return this.#url(name);
  }

  #url(database: string): string {
    return `postgres://trawl@localhost/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  async run(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: databaseUrl });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    await this.stop('immediate');
    process.off('exit', this.#exitHook);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #removeAtExit(): void {
    this.#process?.kill('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
