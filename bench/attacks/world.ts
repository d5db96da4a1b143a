// Repositories for the attacks: a work tree with a wide folder, some history and a rare word; a folder with a large
// file; and a bare repository whose only file lies below thousands of folders. A scale sets the sizes, so tests create
// small ones.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface Scale {
  /** Divides the numbers of connections and folders. */
  readonly divisor: number;
  readonly fileSize: number;
  readonly attackMs: number;
  /** How long the daemon is watched before it. */
  readonly calmMs: number;
  /** How long memory may take to come back. */
  readonly restMs: number;
  /** Each attack meets a new daemon. */
  readonly isFresh: boolean;
}

export const FULL_SCALE: Scale = {
  divisor: 1,
  fileSize: 24 << 20,
  attackMs: 20_000,
  calmMs: 3000,
  restMs: 30_000,
  isFresh: true,
};
export const TINY_SCALE: Scale = {
  divisor: 50,
  fileSize: 1 << 20,
  attackMs: 200,
  calmMs: 100,
  restMs: 100,
  isFresh: false,
};

export interface World {
  /** Absolute paths of the repositories. */
  readonly sources: readonly string[];
  readonly treeRepo: string;
  /** A folder that is no repository, with the large file. */
  readonly plainRepo: string;
  readonly deepRepo: string;
  readonly deepPath: string;
}

export const BIG_PATH = 'big.txt';
export const HISTORY_PATH = 'src/changed.ts';
export const WIDE_PATH = 'wide';
export const RARE_WORD = 'quixotic_zephyr_vow';

const DEPTH = 3000;
const COMMIT_COUNT = 30;
const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@b.example', '-c', 'gc.auto=0'];

function runGit(cwd: string, args: readonly string[], input = ''): void {
  const result = spawnSync('git', [...IDENTITY, ...args], { cwd, input });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr.toString()}`);
}

/** Lines of code that differ, `size` bytes in total. */
function linesOf(size: number): string {
  const lines: string[] = [];
  for (let i = 0, remaining = size; remaining > 0; i++) {
    const line = `export const value_${i} = compute("item ${i * 7919}", ${i % 97}); // step\n`;
    lines.push(line.slice(0, remaining));
    remaining -= line.length;
  }
  return lines.join('');
}

function makeTree(tree: string, { divisor }: Scale): void {
  for (const folder of ['src', WIDE_PATH]) mkdirSync(path.join(tree, folder), { recursive: true });
  writeFileSync(path.join(tree, 'src', 'rare.ts'), `export const ${RARE_WORD} = 1;\n`);
  for (let i = 0; i < 10_000 / divisor; i++)
    writeFileSync(path.join(tree, WIDE_PATH, `module-${i}.ts`), linesOf(1000));
  runGit(tree, ['init', '-q', '-b', 'main']);
  for (let i = 0; i < COMMIT_COUNT / Math.min(divisor, 10); i++) {
    writeFileSync(path.join(tree, HISTORY_PATH), linesOf(50_000 + i * 5000));
    runGit(tree, ['add', '-A', '.']);
    runGit(tree, ['commit', '-q', '-m', `step ${i}`]);
  }
}

function makeDeep(bare: string, deepPath: string): void {
  mkdirSync(bare, { recursive: true });
  runGit(bare, ['init', '-q', '--bare', '-b', 'main']);
  const commit = ['commit refs/heads/main', 'committer a <a@b.example> 1700000000 +0000'];
  const file = [`M 100644 inline ${deepPath}`, 'data 6', 'below\n'];
  runGit(bare, ['fast-import', '--quiet'], [...commit, 'data 0', ...file, ''].join('\n'));
}

/** Below `folder`, unless they exist. Throws if git fails. */
export function makeWorld(folder: string, scale: Scale): World {
  const tree = path.join(folder, 'attacked');
  const plain = path.join(folder, 'plain');
  const bare = path.join(folder, 'deep.git');
  const deepPath = `${'d/'.repeat(Math.ceil(DEPTH / scale.divisor))}file.txt`;
  if (!existsSync(plain)) {
    makeTree(tree, scale);
    makeDeep(bare, deepPath);
    mkdirSync(plain);
    writeFileSync(path.join(plain, BIG_PATH), linesOf(scale.fileSize));
  }
  return {
    sources: [tree, plain, bare],
    treeRepo: 'local/attacked',
    plainRepo: 'local/plain',
    deepRepo: 'local/deep.git',
    deepPath,
  };
}
