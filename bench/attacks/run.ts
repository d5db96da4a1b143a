// Runs attacks, each against a daemon of its own that serves one index: watched for a while in calm, attacked, and
// watched until its memory has come back. Leaves nothing behind but the index, where one is to be kept.

import { setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIndex, findSymbols, startDaemon } from '../daemon.ts';
import type { RunningDaemon } from '../daemon.ts';
import { quantile } from '../statistics.ts';
import type { Attack } from './attacks.ts';
import { Crew, pause } from './crew.ts';
import { startWatch } from './watch.ts';
import type { Phase, Phases, PhaseSamples } from './watch.ts';
import { RARE_WORD, makeWorld } from './world.ts';
import type { Scale, World } from './world.ts';

const KEY = `svk_${'5eed'.repeat(16)}`;
const OWNER = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
/** Where an attack ends at once, so that the machine lives on. */
const MEMORY_MAX = 6_000_000_000;
/** Memory is back where it is at most this many times that of before. */
const MEMORY_RATIO_MAX = 1.3;

export interface AttackOptions {
  readonly attacks: readonly Attack[];
  readonly scale: Scale;
  /** A tree that is searched besides what the attacks need. */
  readonly corpus?: string | undefined;
  /** Folder of the build to attack, default: our own. */
  readonly build?: string | undefined;
  /** Folder where what is made stays for the next run; default: nowhere. */
  readonly keep?: string | undefined;
  readonly onResult?: (result: AttackResult) => void;
}

interface Quantiles {
  readonly sampleCount: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface PhaseFigures {
  /** Undefined: no answer at all. */
  readonly health: Quantiles | undefined;
  readonly word: Quantiles | undefined;
  readonly stopMs: number;
  readonly memorySizeMax: number;
  readonly faults: Readonly<Record<string, number>>;
}

export interface AttackResult {
  readonly name: string;
  readonly why: string;
  readonly calm: PhaseFigures;
  readonly attack: PhaseFigures;
  readonly rest: PhaseFigures;
  readonly memoryBeforeSize: number;
  readonly memoryAfterSize: number;
  readonly isMemoryBack: boolean;
  /** Answers to the attackers by outcome. */
  readonly answers: Readonly<Record<string, number>>;
  /** Why the attack was ended early. */
  readonly ended?: string;
}

interface Prepared {
  readonly world: World;
  readonly sources: readonly string[];
  readonly dataDir: string;
  readonly configPath: string;
}

function quantilesOf(samples: readonly number[]): Quantiles | undefined {
  if (samples.length === 0) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    sampleCount: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
  };
}

function figuresOf({ healthMs, wordMs, stopMs, memorySizeMax, faults }: PhaseSamples) {
  const [health, word] = [quantilesOf(healthMs), quantilesOf(wordMs)];
  return { health, word, stopMs, memorySizeMax, faults };
}

function resultOf(
  { name, why }: Attack,
  phases: Phases,
  counts: ReadonlyMap<string, number>,
  ended: string | undefined,
): AttackResult {
  const memoryBeforeSize = phases.calm.memorySize;
  const memoryAfterSize = phases.rest.memorySize;
  return {
    name,
    why,
    calm: figuresOf(phases.calm),
    attack: figuresOf(phases.attack),
    rest: figuresOf(phases.rest),
    memoryBeforeSize,
    memoryAfterSize,
    isMemoryBack: memoryAfterSize <= MEMORY_RATIO_MAX * memoryBeforeSize,
    answers: Object.fromEntries(counts),
    ...(ended === undefined ? {} : { ended }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** Attacks a running daemon once. */
async function attackOnce(
  attack: Attack,
  daemon: RunningDaemon,
  { world }: Prepared,
  { calmMs, attackMs, restMs, divisor }: Scale,
): Promise<AttackResult> {
  const authorization = { authorization: `Bearer ${KEY}` };
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  let ended: string | undefined;
  const end = (why: string): void => {
    ended ??= why;
    stop.abort();
  };
  const dead = new AbortController();
  const noteDeath = async (): Promise<void> => {
    await daemon.ended;
    dead.abort();
    end('the daemon died');
  };
  void noteDeath();
  const watch = startWatch(
    {
      url: daemon.url,
      pid: daemon.pid,
      headers: attack.isClosed ? authorization : {},
      word: RARE_WORD,
    },
    (size) => {
      if (size > MEMORY_MAX) end('memory above 6 GB');
    },
  );
  /** Lasts at least so long, and until something was seen of it; no longer than the daemon lives. */
  const pass = async (phase: Phase, ms: number, signal: AbortSignal): Promise<void> => {
    await Promise.all([pause(ms, signal), Promise.race([watch.enter(phase), aborted(signal)])]);
  };
  await pass('calm', calmMs, stop.signal);
  const crew = new Crew(daemon.url, stop.signal);
  const scaled = (count: number): number => Math.max(1, Math.ceil(count / divisor));
  const running = attack.run({ crew, world, headers: authorization, scaled });
  await pass('attack', attackMs, stop.signal);
  stop.abort();
  await running;
  await pass('rest', restMs, dead.signal);
  return resultOf(attack, await watch.finish(), crew.counts, ended);
}

async function prepare(folder: string, options: AttackOptions): Promise<Prepared> {
  const { scale, corpus, build } = options;
  mkdirSync(folder, { recursive: true });
  const world = makeWorld(folder, scale);
  const sources = [...world.sources, ...(corpus === undefined ? [] : [corpus])];
  const dataDir = path.join(folder, 'data');
  const configPath = path.join(folder, 'trawl.json');
  writeFileSync(configPath, JSON.stringify({ settings: { rateLimit: { requestsPerDay: null } } }));
  await buildIndex(sources, dataDir, build);
  await findSymbols(sources, dataDir, build);
  return { world, sources, dataDir, configPath };
}

/** Errors: rejects if an index cannot be made or the daemon does not start; what it does later is a result. */
export async function runAttacks(options: AttackOptions): Promise<AttackResult[]> {
  const { attacks, scale, build, keep, onResult } = options;
  const folder = keep ?? mkdtempSync(path.join(tmpdir(), 'trawl-attacks-'));
  const results: AttackResult[] = [];
  try {
    const prepared = await prepare(folder, options);
    for (const attack of attacks) {
      const flags = ['--config', prepared.configPath, ...(attack.isClosed ? [] : ['--anonymous'])];
      const start = { flags, env: OWNER, build };
      const daemon = await startDaemon(prepared.sources, prepared.dataDir, start);
      try {
        const result = await attackOnce(attack, daemon, prepared, scale);
        results.push(result);
        onResult?.(result);
      } finally {
        await daemon.stop();
      }
    }
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return results;
}
