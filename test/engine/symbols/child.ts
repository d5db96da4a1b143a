// A process, or a thread, that extracts symbols until it is ended; for faults.test.ts.

import { argv } from 'node:process';
import type { EngineName } from '../../../daemon/engine/symbols/extractor.ts';
import { openTestExtractor } from './harness.ts';

const engine: EngineName = argv[2] === 'ctags' ? 'ctags' : 'tree-sitter';
const extractor = await openTestExtractor(engine, { concurrency: 2 });
const large = Buffer.alloc(15 << 20, 'int a;\n');

// One process is busy for long, the other waits for work.
void extractor.extract('C', large);
await extractor.extract('C', Buffer.from('int a;\n'));
setInterval(() => {}, 60_000);
