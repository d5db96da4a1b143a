// Options and value parsers that several commands share, and the settings that come from the
// environment. A flag beats its variable; an empty variable counts as unset.

import { given } from '../base/given.ts';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS } from '../base/log-levels.ts';
import { SOURCE_KINDS, VISIBILITIES } from '../repos/records.ts';
import type { SourceMode } from '../sources/git/probe.ts';
import type { RepoChange } from '../index/register/change-repo.ts';
import { UsageError } from './errors.ts';
import type { CliContext } from './context.ts';
import { DATA_DIR, findDataDir } from './find-data-dir.ts';
import { globList } from './glob-list.ts';
import type { CommonOptions } from './services.ts';

type Environment = CliContext['env'];

/** A parser of integers from `min` to `max`, in plain decimal digits. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const bounds = max < Number.MAX_SAFE_INTEGER ? ` to ${String(max)}` : ' or more';
    throw new InvalidArgumentError(`It must be a whole number, ${String(min)}${bounds}.`);
  };
}

/** A variable's value; undefined if it is unset or empty. */
export function readVariable(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

/** Errors: UsageError for anything but `true` and `false`. */
export function readBoolean(env: Environment, name: string): boolean | undefined {
  const value = readVariable(env, name);
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') {
    throw new UsageError(`${name} must be true or false, not ${value}`);
  }
  return value === 'true';
}

/** A secret: the variable itself or the first line of the file that NAME_FILE names. */
export function readSecret(env: Environment, name: string): string | undefined {
  const file = readVariable(env, `${name}_FILE`);
  if (readVariable(env, name) !== undefined || file === undefined) return readVariable(env, name);
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] || undefined;
  } catch (error) {
    throw new UsageError(`cannot read ${name}_FILE: ${file}`, { cause: error });
  }
}

/** Adds `--data-dir`, `--config`, `--log-level`; a data directory that is not named is looked for (find-data-dir.ts). */
export function addCommonOptions(command: Command): Command {
  return addOwnOptions(command).hook('preAction', (_, called) => {
    if (called.getOptionValueSource('dataDir') === 'default')
      called.setOptionValueWithSource('dataDir', findDataDir('.'), 'default');
  });
}

/** As `addCommonOptions`, for commands that may make the data directory: it is in the current folder. */
export function addOwnOptions(command: Command): Command {
  const logLevel = new Option(
    '--log-level <level>',
    'least severe messages to log (default: as the configuration file says, else info)',
  )
    .choices(LOG_LEVELS)
    .env('TRAWL_LOG_LEVEL');
  return command
    .addOption(
      new Option('--data-dir <path>', 'folder of the index and the store')
        .env('TRAWL_DATA_DIR')
        .default(DATA_DIR),
    )
    .addOption(
      new Option('--config <place>', 'configuration file: a path or an http(s) address').env(
        'TRAWL_CONFIG',
      ),
    )
    .addOption(logLevel);
}

/** Adds `--mode`. */
function addModeOption(command: Command): Command {
  const text =
    'what to index: the commit that HEAD names, or the files on disk ' +
    '(default: worktree for a work tree, commits for a bare repository); folder: what was a repository is a plain folder now';
  return command.addOption(new Option('--mode <mode>', text).choices(SOURCE_KINDS));
}

function revisionHelp(what: string, example: string): string {
  return (
    `${what} to index besides the default revision: globs over short names, such as ${example}; ` +
    'comma-separated, repeatable; kept for the repository until given again, "" for none'
  );
}

/** Adds `--branches` and `--tags`. */
function addRevisionOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--branches <globs>', revisionHelp('branches', 'main or release/**')).argParser(
        globList,
      ),
    )
    .addOption(
      new Option('--tags <globs>', revisionHelp('tags', 'v1.* or v{2,3}.?')).argParser(globList),
    );
}

/** Adds `--visibility`, `--enforce-permissions` and `--enforce-permissions-for-public-repos`. */
export function addAccessOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--visibility <name>',
        'who may see the repositories at their host; kept until given again',
      ).choices(VISIBILITIES.filter((name) => name !== 'unknown')),
    )
    .option(
      '--enforce-permissions',
      'only owners and users with a grant see the repositories, unless they are public, or internal and\n' +
        'the user has signed in; kept until given again',
    )
    .option('--no-enforce-permissions', 'whoever may search sees the repositories')
    .option(
      '--enforce-permissions-for-public-repos',
      'with --enforce-permissions: public and internal ones too',
    );
}

/** Adds `--no-ignore` and `--ignore`. */
function addIgnoreOptions(command: Command): Command {
  return command
    .option(
      '--ignore',
      'leave out what .gitignore, .ignore and .trawlignore files say, as by default',
    )
    .option('--no-ignore', 'read all; kept for the repository until --ignore');
}

/** Adds what is said of sources, and what all commands have. */
export function addSourceOptions(command: Command): Command {
  addModeOption(command);
  addRevisionOptions(command);
  addIgnoreOptions(command);
  addAccessOptions(command);
  return addOwnOptions(command);
}

/** The parsed flags of the functions above that add options to several commands. */
export interface CommonFlags
  extends CommonOptions, Pick<RepoChange, 'branches' | 'tags' | 'visibility'> {
  readonly mode?: SourceMode;
  /** False: `--no-ignore`. */
  readonly ignore?: boolean;
  readonly enforcePermissions?: boolean;
  readonly enforcePermissionsForPublicRepos?: true;
}

export function commonOptions({ dataDir, logLevel, config }: CommonOptions): CommonOptions {
  return { dataDir, logLevel, config };
}

/**
 * Does a command that prints results and progress itself share a terminal with its log? Not if somebody chose a level, or
 * where and in which form the log is.
 */
export function isLogInTheWay(flags: CommonOptions, { env, stderr }: CliContext): boolean {
  const isChosen =
    flags.config !== undefined ||
    flags.logLevel !== undefined ||
    ['TRAWL_LOG_FORMAT', 'TRAWL_LOG_FILE'].some((name) => readVariable(env, name) !== undefined);
  return stderr.isTTY === true && !isChosen;
}

/**
 * What was given of branches and tags, of files of rules, and of who may see the repositories.
 *
 * Errors: UsageError for the third flag of `addAccessOptions` without the second.
 */
export function repoChange({
  branches,
  tags,
  visibility,
  enforcePermissions,
  enforcePermissionsForPublicRepos,
  ignore,
}: CommonFlags): RepoChange {
  if (enforcePermissionsForPublicRepos === true && enforcePermissions !== true)
    throw new UsageError('--enforce-permissions-for-public-repos needs --enforce-permissions');
  const enforced = enforcePermissionsForPublicRepos === true ? 'all' : 'restricted';
  return {
    ...given({ branches, tags, visibility }),
    ...(ignore === undefined ? {} : { noIgnore: !ignore }),
    ...(enforcePermissions === undefined
      ? {}
      : { enforcement: enforcePermissions ? enforced : 'none' }),
  };
}

/** Adds a heading "Examples" with one line each to the help text. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${lines}`);
}
