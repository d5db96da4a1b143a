// Entry point of `trawl search` and `trawl explain` in the bundle: as main.ts with these two commands alone, which start in
// less than half the time.

import { addExplainCommand } from './commands/explain.ts';
import { addSearchCommand } from './commands/search.ts';
import { openLocalSearch } from './open-local.ts';
import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';

const context = createProcessContext({ openLocalSearch }, async () => {
  // The whole program begins again: nothing was printed.
  await import('./main.ts');
  return new Promise(() => {});
});

void runProgram(process.argv.slice(2), context, {
  add: [addSearchCommand, addExplainCommand],
  // main.cjs takes the whole program for that.
  versions: () => '',
});
