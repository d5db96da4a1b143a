// Other tools on the same tree: ripgrep, git grep and csearch as whole commands that list every matching line to
// /dev/null. ripgrep gets ASCII classes, git grep PCRE. Missing tools are skipped; counting runs come first, untimed.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, closeSync, statSync } from 'node:fs';
import path from 'node:path';
import { leafOf } from './cases.ts';
import type { BenchCase } from './cases.ts';
import type { Corpus } from './corpora.ts';
import { escapeLiteral, toRipgrep } from './dialect.ts';
import { RIPGREP_FLAGS, caseFlag } from './ripgrep.ts';
import { median } from '../daemon/cli/bench/statistics.ts';

export interface Peer {
  readonly name: string;
  readonly version: string;
  readonly env: Readonly<Record<string, string>>;
  command(text: string, isRegex: boolean, isCaseSensitive: boolean): readonly string[];
  /** Of a tool with an index. */
  readonly index?: { readonly size: number; readonly durationMs: number | undefined };
}

export interface PeerFigure {
  readonly lineCount: number;
  readonly medianMs: number;
}

/** Undefined: not installed. */
function firstLine(command: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n', 1)[0] : undefined;
}

function ripgrep(): Peer | undefined {
  const version = firstLine('rg', ['--version']);
  if (version === undefined) return undefined;
  return {
    name: 'rg',
    version,
    env: {},
    command: (text, isRegex, isCaseSensitive) => [
      'rg',
      ...RIPGREP_FLAGS,
      '--line-number',
      caseFlag(isCaseSensitive),
      ...(isRegex ? ['-e', toRipgrep(text)] : ['--fixed-strings', '-e', text]),
      './',
    ],
  };
}

function gitGrep(root: string): Peer | undefined {
  const version = firstLine('git', ['--version']);
  if (version === undefined) return undefined;
  const scope = existsSync(path.join(root, '.git')) ? [] : ['--no-index'];
  return {
    name: 'git grep',
    version,
    env: { LC_ALL: 'C.UTF-8' },
    command: (text, isRegex, isCaseSensitive) => [
      'git',
      '--no-pager',
      'grep',
      ...scope,
      '--text',
      isRegex ? '--perl-regexp' : '--fixed-strings',
      '--line-number',
      ...(isCaseSensitive ? [] : ['--ignore-case']),
      '-e',
      text,
      '--',
      './',
    ],
  };
}

/** Its tools do not print their version. */
function packageVersion(name: string): string {
  return firstLine('dpkg-query', ['--show', '--showformat=${Version}\\n', name]) ?? 'unknown';
}

function csearch(corpus: Corpus, cache: string): Peer | undefined {
  if (spawnSync('csearch', ['-help']).error) return undefined;
  mkdirSync(cache, { recursive: true });
  const label = `${corpus.name}-${corpus.version}-${Buffer.from(corpus.root).toString('base64url')}`;
  const file = path.join(cache, `csearch-${label.slice(0, 200)}.index`);
  const env = { CSEARCHINDEX: file };
  let durationMs: number | undefined;
  if (!existsSync(file)) {
    const startMs = performance.now();
    spawnSync('cindex', [corpus.root], { env: { ...process.env, ...env } });
    durationMs = performance.now() - startMs;
  }
  return {
    name: 'csearch',
    version: `csearch ${packageVersion('codesearch')}`,
    env,
    index: { size: statSync(file).size, durationMs },
    command: (text, isRegex, isCaseSensitive) => [
      'csearch',
      '-n',
      ...(isCaseSensitive ? [] : ['-i']),
      isRegex ? text : escapeLiteral(text),
    ],
  };
}

/** Their indexes are kept in `cache`. */
export function findPeers(corpus: Corpus, cache: string): Peer[] {
  const peers = [ripgrep(), gitGrep(corpus.root), csearch(corpus, cache)];
  return peers.filter((peer) => peer !== undefined);
}

interface PeerRun {
  readonly ms: number;
  readonly lineCount: number;
}

/** `lineCount` is 0 unless the output is counted. */
function runOnce(
  peer: Peer,
  root: string,
  args: readonly string[],
  isCounted: boolean,
): Promise<PeerRun> {
  const [command = '', ...rest] = args;
  const sink = openSync('/dev/null', 'w');
  const startMs = performance.now();
  const child = spawn(command, rest, {
    cwd: root,
    env: { ...process.env, ...peer.env },
    stdio: ['ignore', isCounted ? 'pipe' : sink, 'ignore'],
  });
  let lineCount = 0;
  child.stdout?.on('data', (data: Buffer) => {
    for (const byte of data) lineCount += Number(byte === 10);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      closeSync(sink);
      resolve({ ms: performance.now() - startMs, lineCount });
    });
  });
}

/** Median wall times, runs interleaved so that a disturbance hits all. Only for one literal or expression. */
export async function measurePeers(
  peers: readonly Peer[],
  benchCase: BenchCase,
  root: string,
  runCount: number,
): Promise<Map<string, PeerFigure>> {
  const { meaning, isCaseSensitive } = benchCase;
  const figures = new Map<string, PeerFigure>();
  const leaf = leafOf(meaning);
  if (!leaf) return figures;
  const commands = peers.map((peer) => ({
    peer,
    args: peer.command(leaf.text, leaf.isRegex, isCaseSensitive),
    samplesMs: [] as number[],
    lineCount: 0,
  }));
  for (const entry of commands) {
    entry.lineCount = (await runOnce(entry.peer, root, entry.args, true)).lineCount;
  }
  for (let run = 0; run < runCount; run++) {
    for (const { peer, args, samplesMs } of commands) {
      samplesMs.push((await runOnce(peer, root, args, false)).ms);
    }
  }
  for (const { peer, lineCount, samplesMs } of commands) {
    figures.set(peer.name, { lineCount, medianMs: median(samplesMs) });
  }
  return figures;
}
