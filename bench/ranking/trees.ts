// The trees whose ranking is measured: published packages of fixed versions, each fetched by the ordinary client of its
// registry as that client is set up on this machine, and kept in a cache folder. Nothing of them is built or run, but for
// the metadata that pip asks the sources of a Python package for. The Linux tree is one more where its path is given.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import spawn from 'nano-spawn';

type Client = 'npm' | 'pip' | 'cargo' | 'go' | 'maven';

interface PinnedTree {
  /** With the version the name of the repo. */
  readonly name: string;
  readonly version: string;
  readonly client: Client;
  /** As the registry knows it. */
  readonly package: string;
  /** The only folder of the package that is taken; default: all. */
  readonly folder?: string;
}

export interface Tree {
  /** Name of the repo, and of its folder. */
  readonly name: string;
  /** Absolute path. */
  readonly root: string;
}

/** Why these: one large and one middling tree a language, with comments, and in most of them tests and documents. */
const PINNED_TREES: readonly PinnedTree[] = [
  { name: 'hugo', version: '0.120.4', client: 'go', package: 'github.com/gohugoio/hugo' },
  { name: 'grpc-go', version: '1.59.0', client: 'go', package: 'google.golang.org/grpc' },
  { name: 'tokio', version: '1.35.1', client: 'cargo', package: 'tokio' },
  { name: 'rustls', version: '0.21.10', client: 'cargo', package: 'rustls' },
  { name: 'django', version: '4.2.8', client: 'pip', package: 'Django' },
  { name: 'twisted', version: '23.10.0', client: 'pip', package: 'Twisted' },
  { name: 'effect', version: '3.10.0', client: 'npm', package: 'effect', folder: 'src' },
  { name: 'webpack', version: '5.89.0', client: 'npm', package: 'webpack' },
  { name: 'libgit2', version: '0.16.1', client: 'cargo', package: 'libgit2-sys' },
  { name: 'curl', version: '0.4.70', client: 'cargo', package: 'curl-sys' },
  {
    name: 'lucene',
    version: '9.9.0',
    client: 'maven',
    package: 'org.apache.lucene:lucene-core',
  },
  { name: 'guava', version: '33.0.0-jre', client: 'maven', package: 'com.google.guava:guava' },
];

/** Leaves the unpacked package in a folder below `work`, and tells which. */
type Fetch = (tree: PinnedTree, work: string) => Promise<string>;

/** The only file of `folder`. */
function onlyFile(folder: string): string {
  const [name, ...others] = readdirSync(folder);
  if (name === undefined || others.length > 0) throw new Error(`not one file in ${folder}`);
  return path.join(folder, name);
}

async function untar(folder: string, work: string): Promise<string> {
  const target = path.join(work, 'tree');
  mkdirSync(target);
  await spawn('tar', ['xf', onlyFile(folder), '-C', target, '--strip-components=1']);
  return target;
}

async function fetchFromNpm({ package: name, version }: PinnedTree, work: string) {
  const folder = path.join(work, 'packed');
  mkdirSync(folder);
  await spawn('npm', ['pack', `${name}@${version}`, '--pack-destination', folder], { cwd: work });
  return untar(folder, work);
}

async function fetchFromPip({ package: name, version }: PinnedTree, work: string) {
  const folder = path.join(work, 'packed');
  const flags = ['--no-deps', '--no-binary', name, '--dest', folder];
  await spawn('python3', ['-m', 'pip', 'download', ...flags, `${name}==${version}`], { cwd: work });
  return untar(folder, work);
}

async function fetchFromCargo({ package: name, version }: PinnedTree, work: string) {
  const dependency = `${name} = { version = "=${version}", default-features = false }`;
  const head = '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n';
  writeFileSync(path.join(work, 'Cargo.toml'), `${head}[dependencies]\n${dependency}\n`);
  mkdirSync(path.join(work, 'src'));
  writeFileSync(path.join(work, 'src', 'lib.rs'), '');
  await spawn('cargo', ['vendor', 'crates'], { cwd: work });
  return path.join(work, 'crates', name);
}

async function fetchFromGo({ package: name, version }: PinnedTree, work: string) {
  // Why: by default what the client has fetched cannot be moved.
  const env = { GOMODCACHE: path.join(work, 'modules'), GOFLAGS: '-modcacherw' };
  const args = ['mod', 'download', '-json', `${name}@v${version}`];
  const { stdout } = await spawn('go', args, { cwd: work, env });
  const folder = /"Dir": "([^"]+)"/.exec(stdout)?.[1];
  if (folder === undefined) throw new Error(`go downloaded no ${name}`);
  return folder;
}

async function fetchFromMaven({ package: name, version }: PinnedTree, work: string) {
  const folder = path.join(work, 'packed');
  const flags = [`-Dartifact=${name}:${version}:jar:sources`, `-DoutputDirectory=${folder}`];
  await spawn('mvn', ['--batch-mode', 'dependency:copy', ...flags], { cwd: work });
  const target = path.join(work, 'tree');
  mkdirSync(target);
  await spawn('jar', ['xf', onlyFile(folder)], { cwd: target });
  return target;
}

const FETCHES: Readonly<Record<Client, Fetch>> = {
  npm: fetchFromNpm,
  pip: fetchFromPip,
  cargo: fetchFromCargo,
  go: fetchFromGo,
  maven: fetchFromMaven,
};

async function openTree(pinned: PinnedTree, cache: string): Promise<Tree> {
  const name = `${pinned.name}-${pinned.version}`;
  const root = path.join(cache, 'ranking', name);
  if (existsSync(root)) return { name, root };
  process.stderr.write(`Fetching ${name} ...\n`);
  const work = `${root}.partial`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const folder = await FETCHES[pinned.client](pinned, work);
  renameSync(path.join(folder, pinned.folder ?? ''), root);
  rmSync(work, { recursive: true, force: true });
  return { name, root };
}

/**
 * The pinned trees whose name holds `only`, fetched into `cache` where they are not there, and the tree of the folder
 * `linux`.
 *
 * Errors: rejects if the client of a registry is not installed, or does not know a version.
 */
export async function openTrees(
  cache: string,
  only: string,
  linux: string | undefined,
): Promise<Tree[]> {
  const trees: Tree[] = [];
  for (const pinned of PINNED_TREES)
    if (pinned.name.includes(only)) trees.push(await openTree(pinned, cache));
  if (linux === undefined) return trees;
  const root = path.resolve(linux);
  return [...trees, { name: path.basename(root), root }];
}
