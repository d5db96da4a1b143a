// Options and parsers that commands share, and the environment. A flag overrides its variable; an empty one is unset.

import { omitUndefined } from '../base/omit-undefined.ts';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS } from '../base/log-levels.ts';
import { SOURCE_KINDS, type SourceKind, VISIBILITIES } from '../repos/records.ts';
import type { RepoChange } from '../index/register/change-repo.ts';
import { UsageError } from './errors.ts';
import { DATA_DIR, findDataDir, ownDataDir } from './known-sources.ts';
import type { CliContext } from './context.ts';
import type { CommonOptions } from './open-local.ts';

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const bounds = max < Number.MAX_SAFE_INTEGER ? ` to ${String(max)}` : ' or more';
    throw new InvalidArgumentError(`It must be a whole number, ${String(min)}${bounds}.`);
  };
}

export function readVariable(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** A secret: the variable itself, or the first line of the file in NAME_FILE. */
export function readSecret(name: string): string | undefined {
  const file = readVariable(`${name}_FILE`);
  if (readVariable(name) !== undefined || file === undefined) return readVariable(name);
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] || undefined;
  } catch (error) {
    throw new UsageError(`cannot read ${name}_FILE: ${file}`, { cause: error });
  }
}

const SECRET_SIZE_MAX = 65_536;

/** Standard input, as no process list shows it; its last line feed is dropped. UsageError if empty or far too long. */
export async function readSecretInput(stdin: Readable, what: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > SECRET_SIZE_MAX)
      throw new UsageError(`standard input: no ${what} is ${SECRET_SIZE_MAX} bytes long`);
    parts.push(bytes);
  }
  const text = Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text === '') throw new UsageError(`standard input: expected a ${what}, found nothing`);
  return text;
}

/** Adds `--data-dir`, `--config`, `--log-level`; an unnamed data directory is that of the current folder. */
export function addCommonOptions(command: Command): Command {
  return addDataOptions(command, findDataDir);
}

/** As `addCommonOptions`; if files are named, the data directory is not looked for. */
export function addFileOptions(command: Command): Command {
  return addDataOptions(command, (folder) =>
    command.args.length > 0 ? DATA_DIR : findDataDir(folder),
  );
}

/** For commands that may create the data directory: in the current folder. */
export function addOwnOptions(command: Command): Command {
  return addDataOptions(command, ownDataDir);
}

/** Whether a command asks another instance, and so needs no data directory. */
function isOfOtherInstance(command: Command): boolean {
  const hasUrl = command.options.some(({ long }) => long === '--url');
  return hasUrl && (command.getOptionValue('url') ?? process.env['TRAWL_URL']) !== undefined;
}

/** @param unnamed  the data directory for the current folder */
function addDataOptions(command: Command, unnamed: (folder: string) => string): Command {
  command.hook('preAction', (_, called) => {
    if (!isOfOtherInstance(called) && called.getOptionValueSource('dataDir') === 'default')
      called.setOptionValueWithSource('dataDir', unnamed('.'), 'default');
  });
  const logLevel = new Option(
    '--log-level <level>',
    'minimum severity of log messages (default: from the configuration file, else info)',
  )
    .choices(LOG_LEVELS)
    .env('TRAWL_LOG_LEVEL');
  return command
    .addOption(
      new Option(
        '--data-dir <path>',
        'folder of the index and the store; serve, index and mcp create it in the current folder, other commands look in parent folders too',
      )
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

/** Comma-separated globs, repeatable; "" gives an empty list. Errors: InvalidArgumentError. */
function globList(text: string, before: readonly string[] = []): readonly string[] {
  return text === '' ? before : [...before, ...splitGlobs(text).map(checkGlob)];
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Splits at commas outside of `{...}` and `[...]`. */
function splitGlobs(text: string): string[] {
  const globs = [''];
  const open: string[] = [];
  for (const character of text) {
    if (character === ',' && open.length === 0) {
      globs.push('');
      continue;
    }
    const closing = CLOSING[character];
    if (character === open.at(-1)) open.pop();
    else if (closing !== undefined && open.at(-1) !== ']') open.push(closing);
    globs.push(`${globs.pop() ?? ''}${character}`);
  }
  const missing = open.at(-1);
  if (missing !== undefined) throw new InvalidArgumentError(`A ${missing} is missing in ${text}.`);
  return globs;
}

function checkGlob(glob: string): string {
  if (glob === '') throw new InvalidArgumentError('There is an empty glob between the commas.');
  if (/[\s\p{Cc}]/u.test(glob))
    throw new InvalidArgumentError(`A glob for names of branches or tags has no blanks: ${glob}`);
  if (glob.startsWith('refs/'))
    throw new InvalidArgumentError(
      `A glob is matched against short names, "main" or "v1.0", not full ones: ${glob}`,
    );
  return glob;
}

function revisionHelp(what: string, example: string): string {
  return (
    `${what} to index besides the default revision: globs over short names, such as ${example}; ` +
    'comma-separated, repeatable; kept for the repository until given again, "" for none'
  );
}

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
      'hide the repositories from all but owners and users with a grant; public ones stay visible to all, ' +
        'internal ones to signed-in users; kept until given again',
    )
    .option('--no-enforce-permissions', 'everybody who may search sees the repositories')
    .option(
      '--enforce-permissions-for-public-repos',
      'with --enforce-permissions: also for public and internal repositories',
    );
}

export function addSourceOptions(command: Command): Command {
  const modes =
    'what to index: the commit of HEAD, or the files on disk ' +
    '(default: worktree for a work tree, commits for a bare repository); folder: treat a former repository as a plain folder';
  const branches = revisionHelp('branches', 'main or release/**');
  command
    .addOption(new Option('--mode <mode>', modes).choices(SOURCE_KINDS))
    .option('--branches <globs>', branches, globList)
    .option('--tags <globs>', revisionHelp('tags', 'v1.* or v{2,3}.?'), globList)
    .option('--ignore', 'apply .gitignore, .ignore and .trawlignore files (default)')
    .option('--no-ignore', 'index ignored files too; kept for the repository until --ignore');
  addAccessOptions(command);
  return addOwnOptions(command);
}

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

/** Not if a log level, format or destination was chosen. */
export function isLogOnTerminal(flags: CommonOptions, { stderr }: CliContext): boolean {
  const isChosen =
    flags.config !== undefined ||
    flags.logLevel !== undefined ||
    ['TRAWL_LOG_FORMAT', 'TRAWL_LOG_FILE'].some((name) => readVariable(name) !== undefined);
  return stderr.isTTY === true && !isChosen;
}

/** Errors: UsageError for the third flag of `addAccessOptions` without the second. */
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

/** Adds `addCommonOptions`, the action and examples. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the values that the command declares
export function addAction<Args extends readonly unknown[]>(
  command: Command,
  context: CliContext,
  run: (...call: [...Args, CliContext]) => Promise<void>,
  examples: readonly string[],
): void {
  addCommonOptions(command).action((...call: unknown[]) =>
    // Safety: the command declares what its function takes; the last value is the command itself.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    run(...(call.slice(0, -1) as unknown as Args), context),
  );
  addExamples(command, examples);
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/** At the end of the help and of the man page. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  EXAMPLES.set(command, examples);
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${lines}`);
}
