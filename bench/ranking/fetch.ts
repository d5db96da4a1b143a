// Fetches packages of fixed versions by their registries' clients. Nothing is built or run, but for pip's metadata.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import spawn from 'nano-spawn';

type Client = 'npm' | 'pip' | 'cargo' | 'go' | 'maven' | 'debian';

export interface PinnedTree {
  /** With the version this is the repo's name. */
  readonly name: string;
  readonly version: string;
  readonly client: Client;
  readonly package: string;
  /** Default: all folders. */
  readonly folder?: string;
}

/** Returns the folder of the unpacked package, below `work`. */
type Fetch = (tree: PinnedTree, work: string) => Promise<string>;

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
  // By default the client's files cannot be moved.
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

/** Release and section of the first Debian archive in apt's lists, as a line of sources. */
async function debianSources(): Promise<string> {
  const format = '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)';
  const { stdout } = await spawn('apt-get', [
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
  ]);
  const line = /^Debian (.+)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error('apt has no lists of Debian: run apt-get update');
  return `deb-src ${line}\n`;
}

/** Fetches lists of sources, which this machine may lack. */
async function fetchFromDebian({ package: name, version }: PinnedTree, work: string) {
  const list = path.join(work, 'sources.list');
  const lists = path.join(work, 'lists');
  const folder = path.join(work, 'packed');
  writeFileSync(list, await debianSources());
  mkdirSync(lists);
  mkdirSync(folder);
  const options = [
    `Dir::Etc::sourcelist=${list}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${lists}`,
  ];
  const flags = options.flatMap((option) => ['-o', option]);
  await spawn('apt-get', [...flags, 'update']);
  await spawn('apt-get', [...flags, 'source', '--download-only', `${name}=${version}`], {
    cwd: folder,
  });
  const original = readdirSync(folder).find((file) => file.includes('.orig.tar.'));
  if (original === undefined) throw new Error(`apt-get source left no sources of ${name}`);
  const target = path.join(work, 'tree');
  mkdirSync(target);
  await spawn('tar', ['xf', path.join(folder, original), '-C', target, '--strip-components=1']);
  return target;
}

export const FETCHES: Readonly<Record<Client, Fetch>> = {
  npm: fetchFromNpm,
  pip: fetchFromPip,
  cargo: fetchFromCargo,
  go: fetchFromGo,
  maven: fetchFromMaven,
  debian: fetchFromDebian,
};
