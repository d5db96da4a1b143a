// A stored run of benchmarks, one JSON file: machine, versions, corpus, and every case with its raw samples.

import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { z } from 'zod';
import type { Stats } from '../../api/search/search-schemas.ts';
import { UsageError } from '../errors.ts';
import { median } from './statistics.ts';

/** To be raised if an older file would be read wrongly. */
const RECORD_VERSION = 1;

const samples = z.array(z.number());
const numbers = z.record(z.string(), z.number());

/** Milliseconds of fixed work by the machine that asks, in turn with the cases: its speed at that time. */
const calibration = z.object({ processorMs: samples, memoryMs: samples });
export type Calibration = z.infer<typeof calibration>;

const recordedCase = z.object({
  id: z.string(),
  class: z.string().optional(),
  /** Why the answer is wrong; such a case has no samples. */
  problem: z.string().optional(),
  /** What answers must agree on before their times are compared. */
  counts: numbers,
  /** Of the search: medians of some answers. Empty for what is not a search. */
  stats: numbers,
  /** Milliseconds in the order of measuring, by start of the processes. */
  starts: z.array(samples),
  /** Just before and just after. */
  calibration,
  /** Other tools, by name. */
  peers: z.record(z.string(), z.object({ medianMs: z.number(), lineCount: z.number() })).optional(),
});
export type RecordedCase = z.infer<typeof recordedCase>;

const machine = z.object({
  cpu: z.string(),
  coreCount: z.number(),
  memorySize: z.number(),
  kernel: z.string(),
  node: z.string(),
});

const runRecord = z.object({
  version: z.literal(RECORD_VERSION),
  /** Two records of one run were measured in turn. */
  run: z.string(),
  /** ISO 8601. */
  startedAt: z.string(),
  machine,
  product: z.string(),
  /** With `+` after it if files were changed; empty: unknown. */
  commit: z.string(),
  corpus: z.object({ name: z.string(), version: z.string() }),
  /** Sizes and times that a run has once. */
  figures: numbers,
  cases: z.array(recordedCase),
});
export type RunRecord = z.infer<typeof runRecord>;

export function describeMachine(): RunRecord['machine'] {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model ?? 'unknown',
    coreCount: cpus.length,
    memorySize: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    node: process.version,
  };
}

/** To the microsecond: more digits are noise, and most of the file. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
}

export function withVersion(record: Omit<RunRecord, 'version'>): RunRecord {
  return { ...record, version: RECORD_VERSION };
}

/** Errors: the file cannot be written. */
export function writeRecord(file: string, record: Omit<RunRecord, 'version'>): void {
  writeFileSync(file, `${JSON.stringify(withVersion(record), rounded)}\n`);
}

/** Errors: UsageError if it is no record, or one of another version. */
export function readRecord(file: string): RunRecord {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${String(error)}`, { cause: error });
  }
  const read = runRecord.safeParse(value);
  if (read.success) return read.data;
  const { path = [], message = '' } = read.error.issues[0] ?? {};
  throw new UsageError(`${file} is no record of a run: ${path.join('.')}: ${message}`);
}

/** The median of each number of `stats`; at least one answer. */
export function medianStats(answers: readonly Stats[]): Record<string, number> {
  const all = answers.map((stats) =>
    Object.entries(stats).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );
  const names = all[0]?.map(([name]) => name) ?? [];
  return Object.fromEntries(
    names.map((name, i) => [name, median(all.map((entries) => entries[i]?.[1] ?? 0))]),
  );
}
