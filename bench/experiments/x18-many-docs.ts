// Experiment X18: one repository of millions of small files: its first index, and the memory of that at its peak.
//   node build/bench/experiments/x18-many-docs.js COUNT WORK
// The repository is made in WORK unless it is there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { buildIndex } from '../daemon.ts';

const [count = '2000000', work = ''] = process.argv.slice(2);
if (work === '') throw new Error('how many, where?');
/** Files of a folder, and folders of a folder. */
const FANOUT = 200;
const PART = 10_000;

const repo = path.join(work, `${count}.git`);
if (!existsSync(repo)) await makeRepo();
const dataDir = mkdtempSync(path.join(work, 'data-'));
const { durationMs, memoryPeakSize, docCount, dataSize } = await buildIndex([repo], dataDir);
rmSync(dataDir, { recursive: true });
console.log(`${docCount} docs in ${(durationMs / 1000).toFixed(1)} s`);
console.log(`private memory at most ${(memoryPeakSize / 1e6).toFixed(0)} MB`);
console.log(`data directory ${(dataSize / 1e6).toFixed(0)} MB`);

async function makeRepo(): Promise<void> {
  mkdirSync(repo, { recursive: true });
  await git(['init', '-q', '--bare', '-b', 'main', '--template='], []);
  await git(['fast-import', '--quiet'], commit());
}

function* commit(): Generator<string> {
  yield 'commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n';
  for (let first = 0; first < Number(count); first += PART) {
    const last = Math.min(first + PART, Number(count));
    yield Array.from({ length: last - first }, (_, at) => fileOf(first + at)).join('');
  }
}

/** About 85 bytes, no two alike. */
function fileOf(at: number): string {
  const folder = Math.floor(at / FANOUT);
  const name = `part${Math.floor(folder / FANOUT)}/folder${folder % FANOUT}/file${at}.txt`;
  const text = `value_${at} = ${Math.imul(at, 2_654_435_761) >>> 0}\n# what stands in the file of number ${at} and in no other\n`;
  return `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`;
}

async function git(args: readonly string[], input: Iterable<string>): Promise<void> {
  const child = spawn('git', ['--git-dir', repo, ...args], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  for (const part of input) if (!child.stdin.write(part)) await once(child.stdin, 'drain');
  child.stdin.end();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${String(code)}`);
}
