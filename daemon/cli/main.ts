// Entry point of `trawl`: connects the commands to the services and this process. search-main.ts is that of searches.

import { COMMANDS } from './commands.ts';
import type { CliContext } from './context.ts';
import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';
import { SERVICES } from './services.ts';

const context: CliContext = createProcessContext(SERVICES, async (options) => {
  const { offerIndex } = await import('./offer-index.ts');
  return offerIndex(options, context);
});

// Not awaited: the bundle is a script (scripts/bundle.mjs).
void runProgram(process.argv.slice(2), context, COMMANDS);
