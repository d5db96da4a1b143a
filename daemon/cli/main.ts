// Entry point of `trawl`: connects the commands to this process. search-main.ts is that of searches.

import { COMMANDS } from './commands.ts';
import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';

const context = createProcessContext(async (options) => {
  const { offerIndex } = await import('./offer-index.ts');
  return offerIndex(options);
});

// Not awaited: the bundle is a script (scripts/bundle.mjs).
void runProgram(process.argv.slice(2), context, COMMANDS);
