// `trawl completion SHELL`: prints the script that completes commands and options.

import { Argument, type Command } from 'commander';
import { shapeOf } from '../command-shape.ts';
import { completionFor, type Shell, SHELLS } from '../completion.ts';
import type { CliContext } from '../context.ts';
import { addExamples } from '../options.ts';

export function addCompletionCommand(program: Command, { stdout }: CliContext): void {
  const command = program
    .command('completion')
    .summary('print the completion script of a shell')
    .description('Prints a script that completes the commands and options of trawl in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS));
  addExamples(command, [
    'trawl completion bash > ~/.local/share/bash-completion/completions/trawl',
    'trawl completion zsh > "${fpath[1]}/_trawl"',
    'trawl completion fish > ~/.config/fish/completions/trawl.fish',
  ]);
  command.action((shell: Shell) => {
    stdout.write(completionFor(shell, shapeOf(program)));
  });
}
