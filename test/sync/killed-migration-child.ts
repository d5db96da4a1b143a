// Opens an index, and with it whatever form its files have, brings it up to date, and ends.
// Arguments: data directory, repositories. Says `ready` before, and `done` at the end.

import { openIndexOf } from './index-of.ts';
import { NEVER } from './merge-limits.ts';

const [dataDir = '', ...repos] = process.argv.slice(2);
process.stdout.write('ready\n');
const index = await openIndexOf(dataDir, { mergeLimits: NEVER });
await index.index(repos, undefined, 'commits');
process.stdout.write('done\n');
await index.close();
