// What the metrics read when somebody asks for them (metrics.ts): the state of searches, process, index, jobs, hosts and store.

import { readProductVersion } from '../base/config/version.ts';
import { privateSizeOfProcess } from '../engine/host/heap.ts';
import type { LocalServer } from '../http/server.ts';
import type { ReadMetric } from './metrics.ts';

export interface MetricSources {
  /** Undefined: it does not listen yet. */
  readonly server: () => Pick<LocalServer, 'searchCounts'> | undefined;
}

const NO_SEARCHES = { running: 0, waiting: 0, refused: 0 };

export function readMetrics({ server }: MetricSources): ReadMetric[] {
  const searches = () => server()?.searchCounts() ?? NO_SEARCHES;
  return [
    {
      name: 'trawl_build_info',
      help: 'Always 1.',
      labelNames: ['version'],
      read: () => [[{ version: readProductVersion() }, 1]],
    },
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
    {
      name: 'trawl_private_bytes',
      help: 'Memory of the process that is not shared with files.',
      read: privateSizeOfProcess,
    },
  ];
}
