// A daemon's connection that is listed, fetched, indexed and cleaned up repeatedly, until this process is killed.
// Arguments: data directory, file with the content of the host. Prints `ready` once it works.

import { openConnected } from './connected-index.ts';
import { localHost, reposOfFile, settingsOf } from './local-host.ts';

const [dataDir = '', file = ''] = process.argv.slice(2);
const host = localHost();
host.beforePage = async () => {
  host.repos = await reposOfFile(file);
};
const settings = { c: settingsOf({ enforcePermissions: true }) };
process.stdout.write('ready\n');
const index = await openConnected(dataDir, host, settings, { attemptsMax: 2 });
for (;;) {
  await index.sync('c');
  for (const { repoId } of index.instance.served.records) index.connections.requestFetch(repoId);
}
