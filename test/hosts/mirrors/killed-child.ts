// Fetches a mirror repeatedly until this process is killed. Arguments: folder, address; `once`: one fetch only.
// Prints `fetched` after each.

import { closeTransports } from '../../../daemon/hosts/mirrors/list-remote.ts';
import { fetchInto } from './fetched.ts';

const [folder = '', url = '', times] = process.argv.slice(2);
for (let isOver = false; !isOver; isOver = times === 'once') {
  await fetchInto(folder, url);
  process.stdout.write('fetched\n');
}
closeTransports();
process.disconnect();
