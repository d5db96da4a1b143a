// The command line over fake services set by the environment, as a child process.

import { createProcessContext } from '../../daemon/cli/process-context.ts';
import { runProgram } from '../../daemon/cli/program.ts';
import { fakeServices } from './fake-services.ts';

await runProgram(process.argv.slice(2), createProcessContext(fakeServices(process.stderr)));
