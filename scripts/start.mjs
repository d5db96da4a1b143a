// `npm start -- [PATH...]`: `trawl serve`, by default on this checkout. Needs nothing installed yet.

import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

process.argv.splice(2, 0, 'serve', '--default-source', root);
await import('./trawl.mjs');
