// What the metrics read when somebody asks for them (metrics.ts): the state of searches, process, index, jobs, hosts and store.

import { readFile } from 'node:fs/promises';
import { readProductVersion } from '../base/config/version.ts';
import { mappingLimit } from '../engine/host/mapping.ts';
import { memoryOfThread, privateSizeOfProcess } from '../engine/host/heap.ts';
import { hostBudgets } from '../hosts/rate-limit.ts';
import type { LocalServer } from '../http/server.ts';
import { SYNC_QUEUE } from '../sync/connections/sync-jobs.ts';
import { INDEX_QUEUE } from '../sync/jobs/jobs.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Instance } from './instance.ts';
import type { ReadMetric } from './metrics.ts';

export interface MetricSources {
  readonly instance: Instance;
  readonly control: Pick<ControlPlane, 'store'>;
  /** Undefined: it does not listen yet. */
  readonly server: () => Pick<LocalServer, 'searchCounts'> | undefined;
  /** Sentences about what does not work. */
  readonly problems: () => readonly string[];
}

export function readMetrics(sources: MetricSources): ReadMetric[] {
  return [
    ...searchMetrics(sources),
    ...processMetrics(sources),
    threadMetric(sources.instance),
    ...indexMetrics(sources.instance),
    ...jobMetrics(sources.instance),
  ];
}

const NO_SEARCHES = { running: 0, waiting: 0, refused: 0 };

function searchMetrics({ server }: MetricSources): ReadMetric[] {
  const searches = () => server()?.searchCounts() ?? NO_SEARCHES;
  return [
    {
      name: 'trawl_searches_running',
      help: 'Searches with a permit.',
      read: () => searches().running,
    },
    {
      name: 'trawl_searches_waiting',
      help: 'Searches that wait for a permit.',
      read: () => searches().waiting,
    },
    {
      name: 'trawl_searches_refused_total',
      help: 'Searches refused because too many wait.',
      read: () => searches().refused,
    },
  ];
}

function processMetrics({ control: { store }, problems }: MetricSources): ReadMetric[] {
  return [
    {
      name: 'trawl_build_info',
      help: 'Always 1.',
      labelNames: ['version'],
      read: () => [[{ version: readProductVersion() }, 1]],
    },
    {
      name: 'trawl_private_bytes',
      help: 'Memory of the process that is not shared with files.',
      read: privateSizeOfProcess,
    },
    { name: 'trawl_mappings', help: 'Memory mappings of the process.', read: mappingCount },
    {
      name: 'trawl_mappings_max',
      help: 'Mappings that the system allows.',
      read: () => mappingLimit() ?? [],
    },
    {
      name: 'trawl_store_up',
      help: '1 if the store answers and can be written.',
      read: () => (store.isAway || store.lastError !== undefined ? 0 : 1),
    },
    { name: 'trawl_problems', help: 'What does not work.', read: () => problems().length },
    {
      name: 'trawl_host_budget_remaining',
      help: 'Requests that a code host still takes.',
      labelNames: ['host'],
      read: () => [...hostBudgets].map(([host, count]) => [{ host }, count] as const),
    },
  ];
}

function threadMetric({ pool, parts: { searcher } }: Instance): ReadMetric {
  return {
    name: 'trawl_thread_memory_bytes',
    help: 'Private memory of the main thread and the search threads: heap of V8, and core without shards.',
    labelNames: ['thread', 'kind'],
    async read() {
      const searching = await pool.memories();
      const threads = [
        ['main', memoryOfThread([searcher])] as const,
        ...searching.map((memory, index) => [`search-${index + 1}`, memory] as const),
      ];
      return threads.flatMap(([thread, memory]) =>
        Object.entries(memory ?? {}).map(([kind, size]) => [{ thread, kind }, size] as const),
      );
    },
  };
}

function indexMetrics({ parts, served, indexer }: Instance): ReadMetric[] {
  const shards = () => parts.snapshots.current.shards;
  return [
    { name: 'trawl_shards', help: 'Shards that are searched.', read: () => shards().length },
    {
      name: 'trawl_shards_out_of_service',
      help: 'Shards that are damaged, or cannot be mapped.',
      labelNames: ['reason'],
      read: () => [
        [{ reason: 'damaged' }, served.quarantinedCount - served.unmappedCount],
        [{ reason: 'unmapped' }, served.unmappedCount],
      ],
    },
    {
      name: 'trawl_index_bytes',
      help: 'Size of these shards.',
      read: () => shards().reduce((sum, { size }) => sum + size, 0),
    },
    {
      name: 'trawl_docs',
      help: 'Files in these shards.',
      read: () => shards().reduce((sum, { docCount }) => sum + docCount, 0),
    },
    {
      name: 'trawl_repositories',
      help: 'Repositories by the state of their index.',
      labelNames: ['state'],
      read: () => {
        const counts = new Map([['ready', 0]]);
        const stateOf = indexer.jobFacade.states();
        for (const record of served.records) {
          const state = stateOf(record);
          counts.set(state, (counts.get(state) ?? 0) + 1);
        }
        return ['ready', 'indexing', 'waiting', 'failed'].map(
          (state) => [{ state }, counts.get(state) ?? 0] as const,
        );
      },
    },
  ];
}

function jobMetrics(instance: Instance): ReadMetric[] {
  const queues = () => {
    const { jobs, connections } = instance.indexer;
    const index = [INDEX_QUEUE, jobs] as const;
    return connections === undefined ? [index] : [index, [SYNC_QUEUE, connections.sync] as const];
  };
  return [
    {
      name: 'trawl_jobs',
      help: 'Jobs that run or wait.',
      labelNames: ['queue', 'state'],
      read: () =>
        queues().flatMap(([queue, { open }]) => {
          const running = open.filter(({ row }) => row.state === 'IN_PROGRESS').length;
          return [
            [{ queue, state: 'running' }, running] as const,
            [{ queue, state: 'waiting' }, open.length - running] as const,
          ];
        }),
    },
    {
      name: 'trawl_job_attempts_total',
      help: 'Attempts of jobs that ended.',
      labelNames: ['queue', 'result'],
      read: () =>
        queues().flatMap(([queue, { ended }]) => [
          [{ queue, result: 'completed' }, ended.completed] as const,
          [{ queue, result: 'failed' }, ended.failed] as const,
        ]),
    },
    {
      name: 'trawl_index_lag_seconds',
      help: 'Age of the oldest push, or change noticed, that is not searched yet.',
      read: () => {
        const now = Date.now();
        const ages = instance.indexer.jobs.open.map(({ lacksSince }) => now - lacksSince);
        return Math.max(0, ...ages) / 1000;
      },
    },
  ];
}

/** Not read at once: a process may have thousands. */
async function mappingCount(): Promise<number> {
  const text = await readFile('/proc/self/maps', 'latin1');
  return text.split('\n').length - 1;
}
