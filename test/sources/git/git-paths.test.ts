// A source whose git leads to another repository, by any means, is refused before anything is read, for indexing and
// for requests; repositories that confirm each other, and allowed ones, are not.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, afterEach, test } from 'node:test';
import { runGit } from '../../../daemon/sources/git/git.ts';
import {
  allowGitPaths,
  checkAllGitPaths,
  GitPathError,
} from '../../../daemon/sources/git/git-paths.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import { ProbeError } from '../../../daemon/sources/git/path-kind.ts';
import { probeSource } from '../../../daemon/sources/git/probe.ts';
import { resolveRef } from '../../../daemon/sources/git/resolve.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());
afterEach(() => allowGitPaths([]));

/** A repository that nobody is to see, and a source beside it whose owner would like to. */
interface World {
  readonly secret: string;
  readonly source: string;
}

function makeWorld(): World {
  return { secret: makeRepo({ 'key.txt': 'secret' }), source: makeRepo({ 'a.txt': 'plain' }) };
}

async function assertRefused({ source }: Pick<World, 'source'>, isDeep = false): Promise<void> {
  await assert.rejects(probeSource(source), (error: unknown) => {
    assert.ok(error instanceof ProbeError, String(error));
    assert.equal(error.failure, 'not_its_own');
    return error.message.includes('TRAWL_GIT_PATHS=');
  });
  if (isDeep) return;
  await assert.rejects(runGit(['rev-parse', 'HEAD'], { repoPath: source }), GitPathError);
  const repo = {
    name: 'r',
    source: { kind: 'commits', path: source },
    defaultRevision: 'HEAD',
  } as const;
  await assert.rejects(resolveRef(repo, 'HEAD', signal), GitPathError);
}

/** The ways from a source to another repository. */
const ESCAPES: Readonly<Record<string, (world: World) => void>> = {
  'a file .git': ({ secret, source }) => {
    rmSync(`${source}/.git`, { recursive: true });
    writeFileSync(`${source}/.git`, `gitdir: ${secret}/.git\n`);
  },
  'a file .git, relative': ({ secret, source }) => {
    rmSync(`${source}/.git`, { recursive: true });
    writeFileSync(`${source}/.git`, `gitdir: ${path.relative(source, secret)}/.git`);
  },
  'a link .git': ({ secret, source }) => {
    rmSync(`${source}/.git`, { recursive: true });
    symlinkSync(`${secret}/.git`, `${source}/.git`);
  },
  commondir: ({ secret, source }) => writeFileSync(`${source}/.git/commondir`, `${secret}/.git\n`),
  'a file .git to a folder of its own that pretends to be a linked work tree': (world) => {
    const { secret, source } = world;
    renameSync(`${source}/.git`, `${source}/fake`);
    writeFileSync(`${source}/.git`, 'gitdir: fake\n');
    writeFileSync(`${source}/fake/commondir`, `${secret}/.git\n`);
    writeFileSync(`${source}/fake/gitdir`, `${source}/.git\n`);
  },
  alternates: ({ secret, source }) =>
    writeFileSync(`${source}/.git/objects/info/alternates`, `# of\n${secret}/.git/objects\n`),
  'alternates in quotes': ({ secret, source }) =>
    writeFileSync(`${source}/.git/objects/info/alternates`, `"${secret}/.git/objects"\n`),
  'alternates in quotes with bytes': ({ secret, source }) => {
    const target = `${secret}/.git/objects`.replace('/', '\\057');
    writeFileSync(`${source}/.git/objects/info/alternates`, `"${target}"\n`);
  },
  'alternates of alternates': ({ secret, source }) => {
    mkdirSync(`${source}/more/info`, { recursive: true });
    writeFileSync(`${source}/more/info/alternates`, `${secret}/.git/objects\n`);
    writeFileSync(`${source}/.git/objects/info/alternates`, '../../more\n');
  },
  'alternates behind a link with a line end of Windows in its name': ({ secret, source }) => {
    symlinkSync(`${secret}/.git/objects`, `${source}/more\r`);
    mkdirSync(`${source}/more`);
    writeFileSync(`${source}/.git/objects/info/alternates`, '../../more\r');
  },
  'alternates, up from behind a link': ({ secret, source }) => {
    symlinkSync(`${secret}/.git/refs`, `${source}/.git/objects/up`);
    writeFileSync(`${source}/.git/objects/info/alternates`, 'up/../objects\n');
  },
  'objects that are a link': ({ secret, source }) => {
    rmSync(`${source}/.git/objects`, { recursive: true });
    symlinkSync(`${secret}/.git/objects`, `${source}/.git/objects`);
  },
  'refs that are a link': ({ secret, source }) => {
    rmSync(`${source}/.git/refs`, { recursive: true });
    symlinkSync(`${secret}/.git/refs`, `${source}/.git/refs`);
  },
};

for (const [name, lead] of Object.entries(ESCAPES)) {
  test(`refused: ${name}`, async () => {
    const world = makeWorld();
    lead(world);
    await assertRefused(world);
  });
}

test('refused: links deep in the folders of objects and refs', async () => {
  for (const name of ['objects/17', 'objects/pack/pack-1.pack', 'refs/heads/x']) {
    const world = makeWorld();
    const link = path.join(world.source, '.git', name);
    rmSync(link, { recursive: true, force: true });
    symlinkSync(`${world.secret}/.git/config`, link);
    await assertRefused(world, true);
  }
});

test('refused: a bare repository with alternates elsewhere', async () => {
  const { secret } = makeWorld();
  const source = path.join(temporaryFolder(), 'fork.git');
  git(secret, 'clone', '-q', '--bare', '--shared', secret, source);
  await assertRefused({ source });
});

test('paths allowed by the operator, and below', async () => {
  const { secret } = makeWorld();
  const source = path.join(temporaryFolder(), 'fork');
  git(secret, 'clone', '-q', '--shared', secret, source);
  await assertRefused({ source });
  allowGitPaths([`${secret}-other`, path.join(secret, '.git', 'objects', 'info')]);
  await assertRefused({ source });
  allowGitPaths([secret]);
  assert.equal((await probeSource(source)).commit, git(secret, 'rev-parse', 'HEAD'));
});

test('a path that is not UTF-8 cannot be allowed, and the message does not offer it', async () => {
  const { secret, source } = makeWorld();
  const target = Buffer.from(`${secret}/gr\xfcn`, 'latin1');
  renameSync(`${secret}/.git`, target);
  rmSync(`${source}/.git`, { recursive: true });
  for (const lead of [
    () => writeFileSync(`${source}/.git`, Buffer.concat([Buffer.from('gitdir: '), target])),
    () => symlinkSync(target, `${source}/.git`),
  ]) {
    lead();
    await assert.rejects(probeSource(source), (error: unknown) => {
      assert.ok(error instanceof ProbeError);
      assert.match(error.message, /not text in UTF-8/);
      return !error.message.includes('TRAWL_GIT_PATHS');
    });
    rmSync(`${source}/.git`);
  }
});

test('a linked work tree registered in its repository, and an unregistered copy', async () => {
  const { source } = makeWorld();
  const linked = path.join(temporaryFolder(), 'linked');
  git(source, 'worktree', 'add', '-q', '--detach', linked);
  const commit = commitAll(linked, 'in the linked one');
  assert.equal((await probeSource(linked)).commit, commit);
  const copy = path.join(temporaryFolder(), 'copy');
  cpSync(linked, copy, { recursive: true });
  await assertRefused({ source: copy });
});

test('submodules and separate git directories that name their work tree', async () => {
  const { secret, source } = makeWorld();
  git(source, 'submodule', '--quiet', 'add', secret, 'sub');
  const submodule = path.join(source, 'sub');
  assert.equal((await probeSource(submodule)).commit, git(secret, 'rev-parse', 'HEAD'));
  assert.equal((await probeSource(source)).commit, git(source, 'rev-parse', 'HEAD'));
  const copy = path.join(temporaryFolder(), 'copy');
  cpSync(submodule, copy, { recursive: true });
  writeFileSync(path.join(copy, '.git'), `gitdir: ${source}/.git/modules/sub\n`);
  await assertRefused({ source: copy });
});

test('links, files and alternates within the source', async () => {
  const source = makeRepo({ 'a.txt': 'plain' });
  git(source, 'clone', '-q', '--bare', source, 'inner.git');
  renameSync(`${source}/.git`, `${source}/real`);
  writeFileSync(`${source}/.git`, 'gitdir: ./real\r\n');
  writeFileSync(`${source}/real/objects/info/alternates`, `\n../../inner.git/objects\n`);
  symlinkSync('main', `${source}/real/refs/heads/other`);
  assert.equal((await probeSource(source)).commit, git(source, 'rev-parse', 'HEAD'));
});

/** Places where git would open a pipe and wait for somebody to write into it. */
const PIPES =
  `.git .git/HEAD .git/config .git/index .git/packed-refs .git/info/exclude .git/info/attributes .git/included
  .git/objects/info/alternates .git/objects/12/3456 .git/refs/heads/pipe`.split(/\s+/);

test('a pipe in place of a git file is refused, without waiting for it', async () => {
  for (const name of [...PIPES, '.git/included twice']) {
    const source = makeRepo({ 'a.txt': 'plain' });
    const pipe = path.join(source, name);
    rmSync(pipe, { recursive: true, force: true });
    mkdirSync(path.dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
    if (name.includes('included')) {
      appendFileSync(`${source}/.git/config`, '[include]\n\tpath = more\n');
      writeFiles(source, { '.git/more': `[INCLUDE] path = "${path.basename(pipe)}"\n` });
    }
    await assert.rejects(probeSource(source), (error: unknown) => {
      assert.ok(error instanceof ProbeError, `${name}: ${String(error)}`);
      assert.equal(error.failure, 'not_a_repository');
      return error.message.includes(`${pipe} is neither`);
    });
  }
});

void test('object folders packed by git meanwhile are not an error', async () => {
  const repo = makeRepo({ 'a.txt': 'x\n' });
  for (let i = 0; i < 40; i++) git(repo, 'commit', '-q', '--allow-empty', '-m', String(i));
  // Each look begins while folders go.
  const objects = path.join(repo, '.git', 'objects');
  const probes: Promise<void>[] = [];
  for (const name of readdirSync(objects).filter((one) => one.length === 2)) {
    probes.push(checkAllGitPaths(repo));
    await new Promise((resolve) => setImmediate(resolve));
    rmSync(path.join(objects, name), { recursive: true });
  }
  await Promise.all(probes);
});
