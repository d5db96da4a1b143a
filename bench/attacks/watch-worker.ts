// The thread that watches a daemon under attack: health every 10 ms, a rare word every 50 ms, and memory. A slow answer
// also counts for the requests that it delayed, as if clients came at a fixed pace.

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { procSize } from '../daemon.ts';
import type { Phase, PhaseSamples, WatchData, WatchMessage, WatchReport } from './watch.ts';

const HEALTH_MS = 10;
const WORD_MS = 50;
const TIMEOUT_MS = 120_000;
const NO_ANSWER = ' no answer';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own message
const { url, pid, headers, word, expected = word } = workerData as WatchData;

function emptySamples(): PhaseSamples {
  return { healthMs: [], wordMs: [], stopsMs: {}, memorySize: 0, memorySizeMax: 0, faults: {} };
}

const phases: Record<Phase, PhaseSamples> = {
  calm: emptySamples(),
  attack: emptySamples(),
  rest: emptySamples(),
};
let phase: Phase = 'calm';
let blamed = '';
const over = new AbortController();
const pending = new Set<() => void>();

/** ms; 0 without /proc. */
function mainThreadMs(): number {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
    return Number(text.split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

interface Probe {
  readonly path: string;
  readonly intervalMs: number;
  readonly body?: string;
  readonly expected: string;
  readonly record: (samples: PhaseSamples, ms: number, stopMs: number, blamed: string) => void;
}

/** Rejects with the kind of fault. */
function sendOnce(agent: Agent, { path, body, expected }: Probe): Promise<void> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const all = { ...headers, 'content-type': 'application/json' };
    const options = { agent, method, headers: all, timeout: TIMEOUT_MS };
    const call = request(new URL(path, url), options, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode !== 200) reject(new Error(`${path} ${answer.statusCode}`));
        else if (text.includes(expected)) resolve();
        else reject(new Error(`${path} wrong`));
      });
    });
    call.on('timeout', () => call.destroy(new Error('timeout')));
    call.on('error', () => reject(new Error(`${path}${NO_ANSWER}`)));
    call.end(body);
  });
}

async function measure(agent: Agent, probe: Probe): Promise<number> {
  const samples = phases[phase];
  const blamedHere = blamed;
  const startMs = performance.now();
  const startCpuMs = mainThreadMs();
  const note = (): void => {
    const ms = performance.now() - startMs;
    probe.record(samples, ms, Math.min(ms, mainThreadMs() - startCpuMs), blamedHere);
  };
  pending.add(note);
  let fault: string | undefined;
  try {
    await sendOnce(agent, probe);
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
    samples.faults[fault] = (samples.faults[fault] ?? 0) + 1;
  }
  // A request without an answer has waited; a refusal says nothing about speed.
  const hasWaited = fault === undefined || fault.endsWith(NO_ANSWER);
  if (hasWaited && pending.has(note)) note();
  pending.delete(note);
  return performance.now() - startMs;
}

/** One waiting client would otherwise count once however long it waits. */
function addPaced(list: number[], ms: number, intervalMs: number): void {
  for (let late = ms; late > 0; late -= intervalMs) list.push(late);
}

async function drive(probe: Probe): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!over.signal.aborted) {
    const tookMs = await measure(agent, probe);
    await new Promise((resolve) => setTimeout(resolve, probe.intervalMs - tookMs));
  }
  agent.destroy();
}

function check(): void {
  const samples = phases[phase];
  const size = procSize(pid, 'status', 'RssAnon');
  samples.memorySize = size;
  samples.memorySizeMax = Math.max(samples.memorySizeMax, size);
  parentPort?.postMessage({ kind: 'memory', phase, size } satisfies WatchReport);
  const { healthMs, wordMs, faults } = samples;
  const answerCount = Math.min(1, healthMs.length) + Math.min(1, wordMs.length);
  if (answerCount + Object.keys(faults).length >= 2)
    parentPort?.postMessage({ kind: 'seen', phase } satisfies WatchReport);
}

const memoryTimer = setInterval(check, 100);

parentPort?.on('message', (message: WatchMessage) => {
  if (typeof message === 'object') blamed = message.blame;
  else if (message === 'over') finish();
  else phase = message;
});

function finish(): void {
  over.abort();
  clearInterval(memoryTimer);
  check();
  // Requests without an answer count with their time so far.
  for (const note of pending) note();
  pending.clear();
  parentPort?.postMessage({ kind: 'over', phases } satisfies WatchReport);
}

void drive({
  path: '/api/health',
  intervalMs: HEALTH_MS,
  expected: 'ok',
  record: ({ healthMs, stopsMs }, ms, stopMs, name) => {
    addPaced(healthMs, ms, HEALTH_MS);
    stopsMs[name] = Math.max(stopsMs[name] ?? 0, stopMs);
  },
});
void drive({
  path: '/api/search',
  intervalMs: WORD_MS,
  body: JSON.stringify({ query: word, matches: 10 }),
  expected,
  record: (samples, ms) => addPaced(samples.wordMs, ms, WORD_MS),
});
