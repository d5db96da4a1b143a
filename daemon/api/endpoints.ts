// All endpoints of the daemon, in the order of the API description.

import { descriptionEndpoints } from './describe.ts';
import type { Endpoint } from './endpoint.ts';
import { listRepos } from './repos.ts';
import { explainSearch, search, streamSearch } from './search.ts';
import { getSource } from './source.ts';
import { getHealth, getReady, getVersion } from './system.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  search,
  streamSearch,
  getSource,
  listRepos,
  getHealth,
  getReady,
  getVersion,
  ...descriptionEndpoints(() => ENDPOINTS),
  explainSearch,
];
