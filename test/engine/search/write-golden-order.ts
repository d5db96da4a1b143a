// Writes the order of answers about a small tree. Run by scripts/golden.mjs.

import { writeFileSync } from 'node:fs';
import { ORDER_FILE, orderListing } from './golden-order.ts';

writeFileSync(ORDER_FILE, await orderListing());
