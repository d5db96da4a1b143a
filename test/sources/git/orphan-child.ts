// Starts git processes that wait for requests, one after the other, and waits to be killed. Argument: a repository.

import { BlobReader } from '../../../daemon/sources/git/blob-reader.ts';

const [repo = ''] = process.argv.slice(2);
for (let i = 0; i < 4; i++) {
  const reader = await BlobReader.open(repo);
  // It runs once it has answered.
  await reader.readBlobs(['0'.repeat(40)], () => {});
}
process.send?.('ready');
