// Experiment X5: how soon does all work of a search end when its client goes away? A real daemon answers dear
// searches; the client closes its connection in the middle, and from then on the state of every thread of the daemon
// is read from /proc about once a millisecond. Work has ended when for 10 ms no thread was seen running. Rounds in
// which nothing ran when the client left do not count. Linux only.
//   node build/bench/experiments/x5-cancel.js FOLDER [ROUNDS]

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIndex, startDaemon } from '../daemon.ts';
import { seededRandom } from '../samples.ts';
import { formatMs, formatTable, summarizeLatency } from '../../daemon/cli/bench/statistics.ts';

const QUIET_MS = 10;

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly query: string;
}

const KINDS: readonly Kind[] = [
  { name: 'stream, many results', path: '/api/stream_search', query: '\\w+\\s+\\w+' },
  { name: 'stream, no result', path: '/api/stream_search', query: '(\\w+\\s+){4}\\d{17}' },
  { name: 'blocking', path: '/api/search', query: '(\\w+\\s+){4}\\d{17}' },
];

function isRunning(pid: number): boolean {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).some((task) => {
    try {
      return / R /.test(readFileSync(path.join(tasks, task, 'stat'), 'latin1'));
    } catch {
      return false; // it has just ended
    }
  });
}

/** Undefined: no thread was running at the start. */
async function timeToRest(pid: number, leave: () => void): Promise<number | undefined> {
  if (!isRunning(pid)) return undefined;
  const startMs = performance.now();
  leave();
  let lastMs = startMs;
  for (let nowMs = startMs; nowMs - lastMs < QUIET_MS && nowMs - startMs < 2000;) {
    await sleep(1);
    const isBusy = isRunning(pid);
    nowMs = performance.now();
    if (isBusy) lastMs = nowMs;
  }
  return lastMs - startMs;
}

async function leaveOnce(
  url: URL,
  pid: number,
  { path: target, query }: Kind,
  stayMs: number,
): Promise<number | undefined> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  await new Promise((resolve) => void socket.once('connect', resolve));
  const body = JSON.stringify({ query, matches: 100_000, isRegexEnabled: true });
  socket.write(
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
  );
  socket.resume();
  await sleep(stayMs);
  const restMs = await timeToRest(pid, () => socket.destroy());
  socket.destroy();
  return restMs;
}

async function main(folder: string, rounds: number): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trawl-cancel-'));
  try {
    await buildIndex([folder], dataDir);
    const daemon = await startDaemon([folder], dataDir);
    const random = seededRandom(1);
    const rows: string[][] = [];
    for (const kind of KINDS) {
      const samples: number[] = [];
      for (let round = 0; round < rounds; round++) {
        // Work left from the round before must not count.
        for (let quiet = 0; quiet < 30; quiet = isRunning(daemon.pid) ? 0 : quiet + 1)
          await sleep(1);
        const restMs = await leaveOnce(new URL(daemon.url), daemon.pid, kind, 5 + random() * 60);
        if (restMs !== undefined) samples.push(restMs);
      }
      const { p50Ms, p95Ms, p99Ms } = summarizeLatency(samples);
      const figures = [p50Ms, p95Ms, p99Ms, Math.max(...samples)].map(formatMs);
      rows.push([kind.name, String(samples.length), ...figures]);
    }
    await daemon.stop();
    const titles = ['rounds', 'p50', 'p95', 'p99', 'most'];
    const columns = titles.map((title) => ({ title, align: 'right' as const }));
    process.stdout.write(formatTable([{ title: 'ms to rest', align: 'left' }, ...columns], rows));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const [folder = '.', rounds = '200'] = process.argv.slice(2);
await main(path.resolve(folder), Number(rounds));
