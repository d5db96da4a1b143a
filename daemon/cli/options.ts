// Options and value parsers that commands share, and settings from the environment. A flag overrides its variable; an
// empty variable counts as unset.

import { omitUndefined } from '../base/omit-undefined.ts';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS } from '../base/log-levels.ts';
import { SOURCE_KINDS, VISIBILITIES } from '../repos/records.ts';
import type { SourceKind } from '../repos/records.ts';
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

/** Errors: UsageError for values other than `true` and `false`. */
export function readBoolean(env: Environment, name: string): boolean | undefined {
  const value = readVariable(env, name);
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') {
    throw new UsageError(`${name} must be true or false, not ${value}`);
  }
  return value === 'true';
}

/** A secret: the variable itself, or the first line of the file in NAME_FILE. */
export function readSecret(env: Environment, name: string): string | undefined {
  const file = readVariable(env, `${name}_FILE`);
  if (readVariable(env, name) !== undefined || file === undefined) return readVariable(env, name);
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] || undefined;
  } catch (error) {
    throw new UsageError(`cannot read ${name}_FILE: ${file}`, { cause: error });
  }
}

/** Adds `--data-dir`, `--config`, `--log-level`; an unnamed data directory is searched for (find-data-dir.ts). */
export function addCommonOptions(command: Command): Command {
  return addOwnOptions(command).hook('preAction', (_, called) => {
    if (called.getOptionValueSource('dataDir') === 'default')
      called.setOptionValueWithSource('dataDir', findDataDir('.'), 'default');
  });
}

/**
 * As `addCommonOptions`, for commands that may create the data directory: in the current folder.
 */
export function addOwnOptions(command: Command): Command {
  const logLevel = new Option(
    '--log-level <level>',
    'minimum severity of log messages (default: from the configuration file, else info)',
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

function addModeOption(command: Command): Command {
  const text =
    'what to index: the commit of HEAD, or the files on disk ' +
    '(default: worktree for a work tree, commits for a bare repository); folder: treat a former repository as a plain folder';
  return command.addOption(new Option('--mode <mode>', text).choices(SOURCE_KINDS));
}

function revisionHelp(what: string, example: string): string {
  return (
    `${what} to index besides the default revision: globs over short names, such as ${example}; ` +
    'comma-separated, repeatable; kept for the repository until given again, "" for none'
  );
}

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
        'visibility of the repositories at their host; kept until given again',
      ).choices(VISIBILITIES.filter((name) => name !== 'unknown')),
    )
    .option(
      '--enforce-permissions',
      'only owners and users with a grant see the repositories, unless these are public, or internal and\n' +
        'the user has signed in; kept until given again',
    )
    .option('--no-enforce-permissions', 'everybody who may search sees the repositories')
    .option(
      '--enforce-permissions-for-public-repos',
      'with --enforce-permissions: also for public and internal repositories',
    );
}

function addIgnoreOptions(command: Command): Command {
  return command
    .option('--ignore', 'apply .gitignore, .ignore and .trawlignore files (default)')
    .option('--no-ignore', 'index ignored files too; kept for the repository until --ignore');
}

/** Adds the options for sources, and those of all commands. */
export function addSourceOptions(command: Command): Command {
  addModeOption(command);
  addRevisionOptions(command);
  addIgnoreOptions(command);
  addAccessOptions(command);
  return addOwnOptions(command);
}

/** Flags added by the functions above. */
export interface CommonFlags
  extends CommonOptions, Pick<RepoChange, 'branches' | 'tags' | 'visibility'> {
  readonly mode?: SourceKind;
  /** False: `--no-ignore`. */
  readonly ignore?: boolean;
  readonly enforcePermissions?: boolean;
  readonly enforcePermissionsForPublicRepos?: true;
}

export function commonOptions({ dataDir, logLevel, config }: CommonOptions): CommonOptions {
  return { dataDir, logLevel, config };
}

/**
 * Whether a command that prints results and progress shares a terminal with its log. Not if a log level, format or
 * destination was chosen.
 */
export function isLogOnTerminal(flags: CommonOptions, { env, stderr }: CliContext): boolean {
  const isChosen =
    flags.config !== undefined ||
    flags.logLevel !== undefined ||
    ['TRAWL_LOG_FORMAT', 'TRAWL_LOG_FILE'].some((name) => readVariable(env, name) !== undefined);
  return stderr.isTTY === true && !isChosen;
}

/**
 * The change requested by flags for revisions, ignore files and access.
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
    throw new UsageError('--enforce-permissions-for-public-repos requires --enforce-permissions');
  const enforced = enforcePermissionsForPublicRepos === true ? 'all' : 'restricted';
  return {
    ...omitUndefined({ branches, tags, visibility }),
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
