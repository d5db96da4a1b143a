// Entry of the command line `trawl`: binds the commands to the services and this process.

import { connectServices } from './connect.ts';
import { createProcessContext } from './process-context.ts';
import { runProgram } from './program.ts';

await runProgram(process.argv.slice(2), createProcessContext(connectServices()));
