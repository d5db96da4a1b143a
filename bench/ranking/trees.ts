// The trees whose ranking is measured: cached packages of fixed versions, the sources of Go, and maybe the Linux tree.

import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import spawn from 'nano-spawn';
import { FETCHES, type PinnedTree } from './fetch.ts';

export interface Tree {
  readonly name: string;
  readonly root: string;
}

/** One large and one middling tree per language, most with comments, tests and documents. */
export const DRAWN_TREES: readonly PinnedTree[] = [
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

/** The score was tuned on none of these. */
export const REAL_TREES: readonly PinnedTree[] = [
  { name: 'go-git', version: '5.11.0', client: 'go', package: 'github.com/go-git/go-git/v5' },
  { name: 'caddy', version: '2.7.6', client: 'go', package: 'github.com/caddyserver/caddy/v2' },
  { name: 'hyper', version: '1.1.0', client: 'cargo', package: 'hyper' },
  { name: 'diesel', version: '2.1.4', client: 'cargo', package: 'diesel' },
  { name: 'rdkafka', version: '4.7.0', client: 'cargo', package: 'rdkafka-sys' },
  { name: 'scrapy', version: '2.11.0', client: 'pip', package: 'Scrapy' },
  { name: 'sphinx', version: '7.2.6', client: 'pip', package: 'Sphinx' },
  { name: 'rxjs', version: '7.8.1', client: 'npm', package: 'rxjs', folder: 'src' },
  { name: 'eslint', version: '8.56.0', client: 'npm', package: 'eslint' },
  { name: 'three', version: '0.160.0', client: 'npm', package: 'three' },
  {
    name: 'jackson',
    version: '2.16.0',
    client: 'maven',
    package: 'com.fasterxml.jackson.core:jackson-databind',
  },
  { name: 'spring', version: '6.1.2', client: 'maven', package: 'org.springframework:spring-core' },
];

const DJANGO = DRAWN_TREES.filter(({ name }) => name === 'django');

/** Used by outside testers, beside the sources of Go and the Linux tree. */
export const UNSEEN_TREES: readonly PinnedTree[] = [
  ...DJANGO,
  { name: 'typescript', version: '4.8.4+ds1-2', client: 'debian', package: 'node-typescript' },
];

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

/** Copied, as a repo is named after its folder. */
export async function openGoSource(cache: string): Promise<Tree> {
  const { stdout } = await spawn('go', ['env', 'GOVERSION', 'GOROOT']);
  const [version = '', goRoot = ''] = stdout.split('\n');
  const name = version.replace(/^go/, 'go-');
  const root = path.join(cache, 'ranking', name);
  if (!existsSync(root)) {
    rmSync(`${root}.partial`, { recursive: true, force: true });
    cpSync(path.join(goRoot, 'src'), `${root}.partial`, { recursive: true });
    renameSync(`${root}.partial`, root);
  }
  return { name, root };
}

/**
 * Those of `pinned` whose name contains `only`, cached, and the folder `linux`. Rejects if a registry's client is
 * missing or does not know a version.
 */
export async function openTrees(
  pinned: readonly PinnedTree[],
  cache: string,
  only: string,
  linux: string | undefined,
): Promise<Tree[]> {
  const trees: Tree[] = [];
  for (const one of pinned) if (one.name.includes(only)) trees.push(await openTree(one, cache));
  if (linux === undefined) return trees;
  const root = path.resolve(linux);
  return [...trees, { name: path.basename(root), root }];
}
