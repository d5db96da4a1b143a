// Entry point of `trawl search` and `trawl explain` in the bundle: as main.ts with these two commands alone, which start in
// less than half the time.

import { addExplainCommand } from './commands/explain.ts';
import { addSearchCommand } from './commands/search.ts';
import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';

// The whole program begins in place of this one, and offers it (scripts/bundle.mjs).
const offerIndex = () => import('./main.ts').then(() => undefined);
const context = createProcessContext(offerIndex);

void runProgram(process.argv.slice(2), context, {
  add: [addSearchCommand, addExplainCommand],
  // main.cjs takes the whole program for that.
  versions: () => '',
});
