// What completion and man pages read from the definitions of the commands.

import type { Command, Option } from 'commander';
import { examplesOf } from './options.ts';

export interface CommandShape {
  /** Below `trawl`, such as `config check`; "" for `trawl` itself. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The options and arguments, such as `[options] <query...>`. */
  readonly usage: string;
  readonly options: readonly Option[];
  readonly examples: readonly string[];
  readonly commands: readonly CommandShape[];
}

/** Describes a command and its subcommands, without hidden options and commands, and without `help`. */
export function shapeOf(command: Command, path = ''): CommandShape {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  return {
    path,
    summary: command.summary() || command.description(),
    description: command.description(),
    usage: command.usage(),
    options: help.visibleOptions(command),
    examples: examplesOf(command),
    commands: commands.map((one) => shapeOf(one, `${path} ${one.name()}`.trim())),
  };
}

/** The command and all below it. */
export function allOf(shape: CommandShape): readonly CommandShape[] {
  return [shape, ...shape.commands.flatMap(allOf)];
}

export function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** `-w` and `--word-regexp`, whichever there are. */
export function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined);
}
