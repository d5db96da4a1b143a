// The order of files in answers over a small tree, as text, so that changes of it are visible in review.
// `test/engine/search/order.golden.txt` is the accepted order; `npm run golden` rewrites it.

import type { Extractor } from '../../../daemon/engine/symbols/extractor.ts';
import { docTier } from '../../../daemon/engine/build/rank.ts';
import type { BestDoc } from '../../../daemon/engine/search/explain-best.ts';
import { detectLanguage } from '../../../daemon/sources/languages/languages.ts';
import { openTestExtractor, symbolsIn } from '../symbols/harness.ts';
import { Engine, type TestDoc } from '../host/harness.ts';

export const ORDER_FILE = 'test/engine/search/order.golden.txt';

/** Two services that hand out work, with tests, copies of others' code and documents. */
const TREE: Readonly<Record<string, string>> = {
  'README.md':
    '# Work queue\n\nA job queue with retries.\n\n## Retry policy\n\nA job that fails is tried again.\n',
  'docs/retry-policy.md': '# How long to wait\n\nThe retry policy doubles the delay of a job.\n',
  'src/queue/job-queue.ts': `import { delayOf } from './backoff.ts';

/** Keeps jobs until a worker takes them. */
export class JobQueue {
  readonly jobs: Job[] = [];

  push(job: Job): void {
    if (this.jobs.length > 100) throw new Error('the job queue is full');
    this.jobs.push(job);
  }

  retry(job: Job): number {
    return delayOf(job.attempts);
  }
}

export interface Job {
  attempts: number;
}
`,
  'src/queue/backoff.ts': `/** Doubles the delay of each attempt. */
export function delayOf(attempts: number): number {
  return 2 ** attempts;
}

export const MAX_DELAY = 60;
`,
  'src/worker.ts': `import { JobQueue } from './queue/job-queue.ts';
import { delayOf } from './queue/backoff.ts';

// The job queue, the job queue, the job queue.
export function runWorker(queue: JobQueue): void {
  const next = queue.jobs.pop();
  if (next) setTimeout(runWorker, delayOf(next.attempts), queue);
}
`,
  'src/queue/job-queue.test.ts': `import { JobQueue } from './job-queue.ts';

test('a full job queue refuses', () => {
  const queue = new JobQueue();
  expect(() => queue.push({ attempts: 0 })).toThrow('the job queue is full');
});
`,
  'vendor/queue/job-queue.ts': 'export class JobQueue {\n  push(job: unknown): void {}\n}\n',
  'server/lease.go': `package server

// Lease is what a worker holds while it works on a job.
type Lease struct {
	WorkerName string
	Attempts   int
}

// RenewLease gives a worker more time for its job.
func RenewLease(lease *Lease) error {
	return renew(lease, maxDelay)
}

func renew(lease *Lease, delay int) error { return nil }
`,
  'server/lease_test.go':
    'package server\n\nfunc TestRenewLease() {\n\tRenewLease(&Lease{WorkerName: "a"})\n}\n',
  'server/server.go': `package server

const maxDelay = 60

func handle(lease *Lease) {
	if err := RenewLease(lease); err != nil {
		panic("could not renew the lease: " + err.Error())
	}
	_ = RenewLease(lease)
}
`,
  'tools/report.py': `"""Reports of what workers did."""


class LeaseReport:
    def worker_name(self, lease):
        return lease["worker_name"]


def max_delay(leases):
    return max(lease["delay"] for lease in leases)
`,
  'tools/lease_table.c': `#include "lease_table.h"

static int lease_count;

int lease_table_add(struct lease_table *table, const char *worker_name)
{
	return ++lease_count;
}
`,
  'tools/lease_table.h': `struct lease_table {
	int lease_count;
};

int lease_table_add(struct lease_table *table, const char *worker_name);
`,
};

const QUERIES: readonly string[] = [
  'JobQueue',
  'jobqueue',
  'job queue',
  '"job queue"',
  'retry policy',
  'delayOf',
  'RenewLease',
  'renew lease',
  'Lease',
  'worker name',
  'worker_name',
  'max delay',
  'lease table add',
  '"lease_table_add(struct lease_table *table"',
  'the job queue is full',
  'could not renew the lease',
  'doubles delay attempt',
  'sym:lease',
  'file:queue job',
  'Lease or file:backoff.ts',
];

async function docOf(extractor: Extractor, path: string, text: string): Promise<TestDoc> {
  const bytes = Buffer.from(text);
  const language = detectLanguage(path, bytes);
  const symbols = await symbolsIn(extractor, language, bytes);
  return { path, bytes, language, tier: docTier(path), symbols };
}

/** A path with the parts of its score, if requested. */
function lineOf(path: string, doc: BestDoc | undefined): string {
  const { tier = 1, ...parts } = doc?.parts ?? {};
  const sum = Object.entries(parts).flatMap(([name, points]) =>
    points === 0 ? [] : [`${name} ${points}`],
  );
  const times = tier === 1 || tier === 0 ? '' : `; x ${tier}`;
  return `  ${path.padEnd(28)}${doc?.score ?? ''}: ${sum.join(', ')}${times}`;
}

/** Each query with the paths of its answer, the best first, and what the scores of the first ones are made of. */
export async function orderListing(): Promise<string> {
  // Why not ctags: it is not everywhere, and not of one version.
  const extractor = await openTestExtractor('tree-sitter');
  const files = Object.entries(TREE);
  const docs = await Promise.all(files.map(([path, text]) => docOf(extractor, path, text)));
  await extractor.close();
  await using engine = await Engine.over(docs);
  const parts: string[] = [];
  for (const query of QUERIES) {
    const { files: found } = await engine.search(query);
    const { best } = await engine.explain(query);
    const lines = found.map(({ fileName }, index) => lineOf(fileName.text, best[index]));
    parts.push([query, ...lines].join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}
