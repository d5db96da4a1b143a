// Options of ripgrep that Trawl does not have: each is refused with the way to say it here.

import { type Command, Option } from 'commander';
import { UsageError } from './errors.ts';

interface RefusedOption {
  readonly flags: string;
  readonly remedy: string;
}

const INDEXED = 'what is searched is decided when it is indexed';

export const REFUSED_OPTIONS: readonly RefusedOption[] = [
  {
    flags: '-v, --invert-match',
    remedy:
      "lines without a match are not shown; to leave out files that have a word: trawl search 'WORD -content:OTHER'",
  },
  {
    flags: '--files-without-match',
    remedy: "write it as a query: trawl search -l -- '-content:WORD'",
  },
  {
    flags: '-x, --line-regexp',
    remedy: "write the ends of the line into the expression: trawl search -e '^EXPRESSION$'",
  },
  {
    flags: '-r, --replace <text>',
    remedy:
      'matches are shown as they are; to edit: trawl search -l0 WORD | xargs -0 sed -i s/OLD/NEW/',
  },
  {
    flags: '-P, --pcre2',
    remedy: 'expressions are those of RE2, which ripgrep has by default: -e EXPRESSION',
  },
  { flags: '-u, --unrestricted', remedy: `${INDEXED}: trawl index --no-ignore PATH` },
  { flags: '--no-ignore', remedy: `${INDEXED}: trawl index --no-ignore PATH` },
  { flags: '--hidden', remedy: 'hidden files are searched; to leave them out: -g "!.*"' },
  { flags: '-a, --text', remedy: `${INDEXED}, and binary files are found by name` },
  { flags: '-z, --search-zip', remedy: 'compressed files are found by name: file:NAME' },
  {
    flags: '-L, --follow',
    remedy: `${INDEXED}: index the target of the link as a source of its own`,
  },
  { flags: '--type-list', remedy: '-t takes the names and aliases of languages that lang: takes' },
];

/** Adds them hidden from the help: each throws a UsageError with its remedy. */
export function refuseOptions(command: Command): Command {
  for (const { flags, remedy } of REFUSED_OPTIONS) {
    const option = new Option(flags).hideHelp();
    command.addOption(option);
    command.on(`option:${option.name()}`, () => {
      throw new UsageError(
        `${flags.replace(/ <.*/, '')} of ripgrep is not an option here: ${remedy}`,
      );
    });
  }
  return command;
}
