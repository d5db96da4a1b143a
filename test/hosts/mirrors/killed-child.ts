// Fetches a mirror again and again, until somebody kills this process. Arguments: folder, address; `once`: one
// fetch alone. Says `fetched` after each.

import { closeTransports } from '../../../daemon/hosts/mirrors/list-remote.ts';
import { fetchInto } from './fetched.ts';

const [folder = '', url = '', times] = process.argv.slice(2);
for (let isOver = false; !isOver; isOver = times === 'once') {
  await fetchInto(folder, url);
  process.stdout.write('fetched\n');
}
closeTransports();
process.disconnect();
