// The command line over fake services set by the environment, as a child process.

import { COMMANDS } from '../../daemon/cli/commands.ts';
import { createProcessContext } from '../../daemon/cli/process-context.ts';
import { runProgram } from '../../daemon/cli/program.ts';
import { fakeServices } from './fake-services.ts';

const context = createProcessContext(fakeServices(process.stderr), () =>
  Promise.resolve(undefined),
);
await runProgram(process.argv.slice(2), context, COMMANDS);
