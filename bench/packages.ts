// `node build/bench/packages.js FOLDER COUNT`: COUNT packages of npm's registry, each as a bare repository of one commit
// below FOLDER. It begins with the packages of package-lock.json, and goes on with what those depend on, also for their
// development. `FOLDER.list` names them with their versions; where it is there, the same ones are made again.

import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';

const AT_ONCE = 8;
/** Bytes of an archive; larger packages hold builds, not sources. */
const SIZE_MAX = 5e6;
const TRIES = 3;

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  dist: z.object({ tarball: z.string() }),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});
type Manifest = z.infer<typeof manifestSchema>;
const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });

const [folderArgument = '', countArgument] = process.argv.slice(2);
const count = Number(countArgument);
if (folderArgument === '' || !(count > 0)) throw new Error('packages FOLDER COUNT');
const folder = path.resolve(folderArgument);
const list = `${folder}.list`;
const registry = run('npm', ['config', 'get', 'registry']).trim().replace(/\/$/, '');
const work = mkdtempSync(path.join(tmpdir(), 'trawl-packages-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
mkdirSync(folder, { recursive: true });

const listed = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : undefined;
if (listed !== undefined && listed.length < count)
  throw new Error(`${list} names ${listed.length} packages; delete it to find more`);
const queue = listed ?? ownPackages();
const seen = new Set(queue);
let next = 0;
let made = 0;

await Promise.all(Array.from({ length: AT_ONCE }, makeNext));
process.stdout.write(`${String(made)} repositories\n`);

/** Names, or names with versions ("@scope/name@1.2.3"). */
async function makeNext(): Promise<void> {
  while (made < count && next < queue.length) {
    const packageId = queue[next++]!;
    const manifest = await retried(() => manifestOf(packageId));
    if (manifest === undefined) continue;
    if (listed === undefined) enqueue(manifest);
    // Counted before it is made: others are made at the same time.
    made++;
    if ((await retried(() => makeRepo(manifest))) !== true) {
      made--;
      continue;
    }
    if (listed === undefined) appendFileSync(list, `${manifest.name}@${manifest.version}\n`);
  }
}

function enqueue({ dependencies, devDependencies, peerDependencies }: Manifest): void {
  for (const name of Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies })) {
    if (seen.has(name)) continue;
    seen.add(name);
    queue.push(name);
  }
}

async function manifestOf(packageId: string): Promise<Manifest> {
  const at = packageId.lastIndexOf('@');
  const [name, version] =
    at > 0 ? [packageId.slice(0, at), packageId.slice(at + 1)] : [packageId, 'latest'];
  const reply = await fetch(`${registry}/${name.replace('/', '%2f')}/${version}`);
  if (!reply.ok) throw new Error(`${packageId}: status ${String(reply.status)}`);
  return manifestSchema.parse(await reply.json());
}

/** False: it is too large. */
async function makeRepo({ name, version, dist }: Manifest): Promise<boolean> {
  const repo = path.join(folder, `${name.replace('/', '-')}.git`);
  if (existsSync(path.join(repo, 'refs', 'heads', 'main'))) return true;
  const reply = await fetch(dist.tarball);
  if (!reply.ok) throw new Error(`${dist.tarball}: status ${String(reply.status)}`);
  const content = Buffer.from(await reply.arrayBuffer());
  if (content.length > SIZE_MAX) return false;
  const tree = mkdtempSync(path.join(work, 'tree-'));
  run('tar', ['-xzf', '-', '-C', tree, '--strip-components=1', '--no-same-owner'], content);
  rmSync(repo, { recursive: true, force: true });
  run('git', ['init', '-q', '--bare', '--template=', '-b', 'main', repo]);
  const git = ['--git-dir', repo, '--work-tree', tree];
  run('git', [...git, 'add', '-A', '-f', '.']);
  const author = [
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.com',
    '-c',
    'commit.gpgSign=false',
  ];
  run('git', [...author, ...git, 'commit', '-q', '-m', `${name} ${version}`]);
  rmSync(tree, { recursive: true, force: true });
  return true;
}

/** Undefined, with a message, after the last try. */
async function retried<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries < TRIES) continue;
      process.stderr.write(`${String(error)}\n`);
      return undefined;
    }
  }
}

function ownPackages(): string[] {
  const lock = lockSchema.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
  const names = Object.keys(lock.packages).map((key) => key.replace(/^.*node_modules\//, ''));
  return [...new Set(names.filter((name) => name !== ''))];
}

function run(command: string, args: readonly string[], input?: Buffer): string {
  const done = spawnSync(command, args, input === undefined ? {} : { input });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${done.stderr.toString()}`);
  return done.stdout.toString();
}
