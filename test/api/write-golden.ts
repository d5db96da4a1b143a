// Writes the listing of the API description. Run by `npm run golden`.

import { writeFileSync } from 'node:fs';
import { GOLDEN_FILE, listingOf, publicDocument } from './golden.ts';

writeFileSync(GOLDEN_FILE, listingOf(publicDocument()));
