// Experiment X15: how long does it take to list the repositories of a host, and what does it cost? A server that answers as
// GitHub does, or Gitea, in a process of its own, each answer after 2 ms; a connection to an organization with COUNT
// repositories.
//   node build/bench/experiments/x15-listing.js [COUNT]

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createLog } from '../../daemon/base/log.ts';
import { connectionSchema } from '../../daemon/base/config/connections.ts';
import { openHost } from '../../daemon/hosts/open-host.ts';
import { startGitea } from '../../test/hosts/gitea-server.ts';
import { startGithub } from '../../test/hosts/github-server.ts';

const DELAY_MS = 2;
const ROUNDS = 3;
const KINDS = ['github', 'gitea'] as const;
type Kind = (typeof KINDS)[number];

async function serve(kind: Kind, count: number): Promise<void> {
  const repositories = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    path: `acme/repo-${at}`,
  }));
  const t = { after: () => {} };
  const state = { repositories, delayMs: DELAY_MS };
  const server = kind === 'github' ? await startGithub(t, state) : await startGitea(t, state);
  process.send?.(server.url);
}

async function measure(kind: Kind, count: number): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [String(count), kind]);
  const url = await new Promise((resolve) => child.once('message', resolve));
  const log = createLog({ level: 'error', format: 'text' });
  const settings = connectionSchema.parse({
    type: kind,
    url,
    orgs: ['acme'],
    token: { env: 'TOKEN' },
  });
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    const before = process.cpuUsage();
    const host = await openHost('bench', settings, { log, env: { TOKEN: 'the-token' }, apps: [] });
    let listed = 0;
    for await (const { repos, issues } of host.list(new AbortController().signal)) {
      if (issues.length > 0) throw new Error(JSON.stringify(issues));
      listed += repos.length;
    }
    await host.close();
    if (listed !== count) throw new Error(`${listed} of ${count} repositories`);
    const { user, system } = process.cpuUsage(before);
    const wallMs = performance.now() - startMs;
    const cpuMs = (user + system) / 1000;
    console.log(
      `${kind}: ${listed} listed in ${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`,
    );
  }
  child.kill();
}

const [, , count = '10000', served] = process.argv;
const kind = KINDS.find((one) => one === served);
if (kind !== undefined) await serve(kind, Number(count));
else for (const one of KINDS) await measure(one, Number(count));
