// A code host in a separate process (test/hosts/code-host.ts) with the bare repositories of a folder, for a daemon's
// connection; and its push webhooks.

import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { idOf } from '../hosts/github-server.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call } from './daemon.ts';

export class CodeHost {
  readonly url: string;
  /** Of the bare repositories. */
  readonly folder: string;
  readonly stop: () => void;

  private constructor(url: string, folder: string, stop: () => void) {
    this.url = url;
    this.folder = folder;
    this.stop = stop;
  }

  /** Serves a folder of its own, which is empty. */
  static async start(): Promise<CodeHost> {
    const folder = path.join(temporaryFolder(), 'repos');
    mkdirSync(folder);
    const script = fileURLToPath(new URL('../hosts/code-host.js', import.meta.url));
    const child = spawn(process.execPath, [script, folder, '0', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return new CodeHost(line.toString().trim(), folder, () => void child.kill());
  }

  pathOf(name: string): string {
    return path.join(this.folder, `${name}.git`);
  }

  /** What the daemon calls a repository. */
  nameOf(name: string): string {
    return `${new URL(this.url).host}/acme/${name}`;
  }

  add(name: string, files: Record<string, string>): string {
    const bare = this.pathOf(name);
    execFileSync('git', ['clone', '-q', '--bare', makeRepo(files), bare], { stdio: 'pipe' });
    return bare;
  }

  commit(name: string, file: string, content: string): void {
    const bare = this.pathOf(name);
    const branch = execFileSync('git', ['-C', bare, 'symbolic-ref', 'HEAD']).toString().trim();
    execFileSync('git', ['-C', bare, 'fast-import', '--quiet', '--date-format=now'], {
      input:
        `commit ${branch}\ncommitter a <a@example.com> now\ndata 1\nx\nfrom ${branch}^0\n` +
        `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    });
  }

  /** Tells a daemon of a push. @param more  members of what is said of the repository */
  async notify(daemonUrl: string, name: string, secret: string, event = 'push', more: object = {}) {
    const page = `${this.url}/acme/${name}`;
    const body = JSON.stringify({
      ref: 'refs/heads/main',
      // As large as a delivery with many commits.
      commits: [{ message: 'x'.repeat(100_000) }],
      repository: { id: idOf(name), full_name: `acme/${name}`, html_url: page, ...more },
    });
    const proof = createHmac('sha256', secret).update(body).digest('hex');
    const reply = await call(`${daemonUrl}/api/webhook`, {
      method: 'POST',
      body,
      headers: { 'x-github-event': event, 'x-hub-signature-256': `sha256=${proof}` },
    });
    return { status: reply.status, body: (await reply.json()) as { repositories?: number } };
  }
}
