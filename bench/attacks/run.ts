// Runs attacks, each against a daemon of its own: watched before, during, and until its memory has come back.

import { setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIndex, findSymbols, type RunningDaemon, startDaemon } from '../daemon.ts';
import { quantile } from '../../daemon/cli/bench/statistics.ts';
import type { Attack } from './attacks.ts';
import { endpointCalls } from './calls.ts';
import { Crew, pause } from './crew.ts';
import { type Phase, type Phases, type PhaseSamples, startWatch } from './watch.ts';
import { makeWorld, RARE_WORD, type Scale, type World } from './world.ts';

const KEY = `svk_${'5eed'.repeat(16)}`;
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };
const OWNER = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
/** Flags for access without a credential. */
const CLOSED: readonly string[] = [];
const OPEN: readonly string[] = ['--anonymous'];

export interface AttackOptions {
  readonly attacks: readonly Attack[];
  readonly scale: Scale;
  /** A tree to search besides what the attacks need. */
  readonly corpus?: string | undefined;
  /** Default: our own. */
  readonly build?: string | undefined;
  /** Where files are kept for the next run; default: nowhere. */
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
  /** Longest stop of the event loop, also by cause. */
  readonly stopMs: number;
  readonly stopsMs: Readonly<Record<string, number>>;
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

function figuresOf({ healthMs, wordMs, stopsMs, ...rest }: PhaseSamples): PhaseFigures {
  return {
    health: quantilesOf(healthMs),
    word: quantilesOf(wordMs),
    stopMs: Math.max(0, ...Object.values(stopsMs)),
    stopsMs,
    memorySizeMax: rest.memorySizeMax,
    faults: rest.faults,
  };
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
    isMemoryBack: memoryAfterSize <= 1.3 * memoryBeforeSize,
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

/** Requests every endpoint once, so that later memory is the attack's. */
async function warmUp({ url, ended }: RunningDaemon, world: World): Promise<void> {
  const stop = new AbortController();
  void ended.then(() => stop.abort());
  const crew = new Crew(url, AUTHORIZATION, stop.signal);
  while (!(await crew.send({ path: '/api/ready' }))) await pause(200, stop.signal);
  for (const { call } of endpointCalls(world, 0)) await crew.send(call);
}

class Ending {
  readonly #stop = new AbortController();
  readonly #dead = new AbortController();
  why: string | undefined;

  constructor(daemon: RunningDaemon) {
    setMaxListeners(0, this.#stop.signal);
    void this.#awaitDeath(daemon);
  }

  async #awaitDeath({ ended }: RunningDaemon): Promise<void> {
    await ended;
    this.#dead.abort();
    this.end('the daemon died');
  }

  /** `why`: it ended early. */
  end(why?: string): void {
    this.why ??= why;
    this.#stop.abort();
  }

  noteMemory(size: number): void {
    if (size > 6_000_000_000) this.end('memory above 6 GB');
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  get died(): AbortSignal {
    return this.#dead.signal;
  }
}

async function attackOnce(
  attack: Attack,
  daemon: RunningDaemon,
  { world }: Prepared,
  { calmMs, attackMs, restMs, divisor }: Scale,
): Promise<AttackResult> {
  const ending = new Ending(daemon);
  const { url, pid } = daemon;
  const [beside, attacker] = attack.isClosed ? [AUTHORIZATION, {}] : [{}, AUTHORIZATION];
  const watch = startWatch({ url, pid, headers: beside, word: RARE_WORD }, (size) =>
    ending.noteMemory(size),
  );
  /** At least `ms`, and until there is a sample, unless the daemon exits. */
  const pass = async (phase: Phase, ms: number, signal: AbortSignal): Promise<void> => {
    await Promise.all([pause(ms, signal), Promise.race([watch.enter(phase), aborted(signal)])]);
  };
  await pass('calm', calmMs, ending.stopped);
  const crew = new Crew(url, attacker, ending.stopped);
  const scaled = (count: number): number => Math.max(1, Math.ceil(count / divisor));
  const running = attack.run({ crew, world, scaled, blame: (name) => watch.blame(name) });
  await pass('attack', attackMs, ending.stopped);
  if (!attack.isOnce) ending.end();
  await running;
  ending.end();
  watch.blame('');
  await pass('rest', restMs, ending.died);
  return resultOf(attack, await watch.finish(), crew.counts, ending.why);
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

/** In turn, each against a new daemon unless the scale lets it share the last one. */
async function attackAll(prepared: Prepared, options: AttackOptions): Promise<AttackResult[]> {
  const { attacks, scale, build, onResult } = options;
  const results: AttackResult[] = [];
  let daemon: RunningDaemon | undefined;
  let access: readonly string[] | undefined;
  try {
    for (const attack of attacks) {
      const expected = attack.isClosed ? CLOSED : OPEN;
      if (daemon === undefined || scale.isFresh || access !== expected) {
        await daemon?.stop();
        access = expected;
        const flags = ['--config', prepared.configPath, ...access];
        daemon = await startDaemon(prepared.sources, prepared.dataDir, {
          flags,
          env: OWNER,
          build,
        });
        await warmUp(daemon, prepared.world);
      }
      const result = await attackOnce(attack, daemon, prepared, scale);
      results.push(result);
      onResult?.(result);
    }
  } finally {
    await daemon?.stop();
  }
  return results;
}

/** Rejects if an index cannot be created or the daemon does not start; later failures are results. */
export async function runAttacks(options: AttackOptions): Promise<AttackResult[]> {
  const { keep } = options;
  const folder = keep ?? mkdtempSync(path.join(tmpdir(), 'trawl-attacks-'));
  try {
    return await attackAll(await prepare(folder, options), options);
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
