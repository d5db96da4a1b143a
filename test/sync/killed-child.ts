// An index that is updated and merged repeatedly, until this process is killed. Arguments: data directory,
// repositories. Prints `ready` once it works.

import { openIndexOf } from './index-of.ts';
import { EAGER } from '../index/merge-limits.ts';

const [dataDir = '', ...repos] = process.argv.slice(2);
const index = await openIndexOf(dataDir, { findsSymbols: true, mergeLimits: EAGER });
await index.index(repos, undefined, 'commits');
process.stdout.write('ready\n');
const { jobs, merger } = index.instance.indexer;
for (let round = 0; ; round++) {
  await jobs.indexAll(index.instance.served.records, round % 7 === 6);
  const passing = index.instance.symbols!.run();
  await merger.run();
  await passing;
}
