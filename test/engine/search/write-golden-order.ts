// Writes the golden order of answers over a small tree. Run by `npm run golden`.

import { writeFileSync } from 'node:fs';
import { ORDER_FILE, orderListing } from './golden-order.ts';

writeFileSync(ORDER_FILE, await orderListing());
