// Entry point of `trawl`: connects the commands to the services and this process.

import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';
import { SERVICES } from './services.ts';

// Not awaited: the bundle is a script (scripts/bundle.mjs).
void runProgram(process.argv.slice(2), createProcessContext(SERVICES));
