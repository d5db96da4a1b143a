// `trawl config ...`: checks configuration files and shows their schema.

import type { Command } from 'commander';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import { selectionOf } from '../../base/config/file-check.ts';
import { type CliContext, EXIT_NONE, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { countOf } from '../format.ts';
import { formatTable } from '../operator-output.ts';
import { addExamples, readVariable } from '../options.ts';
import type { CheckedFile } from '../probe-connections.ts';
import { checkConfiguration } from '../services.ts';
import { escapeControls } from '../terminal-text.ts';

interface CheckFlags {
  readonly online?: true;
}

async function check(
  argument: string | undefined,
  { online }: CheckFlags,
  context: CliContext,
): Promise<void> {
  const { stdout, stderr } = context;
  const location = argument ?? readVariable('TRAWL_CONFIG');
  if (location === undefined) throw new UsageError('name a file, or set TRAWL_CONFIG');
  const fileCheck = await checkConfiguration(location, online === true);
  const { diagnostics, secrets, probed, probedProviders } = fileCheck;
  stdout.write(describeCheck(fileCheck));
  for (const note of notesOf(fileCheck)) stderr.write(`note: ${note}\n`);
  const missing = secrets.filter(({ problem }) => problem !== undefined);
  const failed = [...probed, ...probedProviders].filter(({ state }) => state === 'failed');
  const isRight = diagnostics.length + missing.length + failed.length === 0;
  const counts = [
    countOf(diagnostics.length, 'mistake'),
    `${countOf(missing.length, 'secret')} missing`,
    ...(online === true ? [`${countOf(failed.length, 'host')} not reached`] : []),
  ];
  stderr.write(isRight ? `valid: ${describeParts(fileCheck)}\n` : `${counts.join(', ')}\n`);
  context.setExitCode(isRight ? EXIT_OK : EXIT_NONE);
}

/** Settings without effect, or without effect unless there is a licence. */
function notesOf({ file }: CheckedFile): string[] {
  const licensed = [
    ['contexts', Object.keys(file.contexts), 'search-contexts'],
    ['grants', file.permissions.grants, 'permissions'],
    ['tokens of identity providers', acceptingIn(file), 'oauth'],
  ] as const;
  return [
    ...file.notices,
    ...Object.entries(file.connections).flatMap(submoduleNote),
    ...licensed
      .filter(([, entries]) => entries.length > 0)
      .map(
        ([what, , entitlement]) =>
          `${what} require a licence with the entitlement "${entitlement}"`,
      ),
  ];
}

function acceptingIn({ identityProviders }: CheckedFile['file']): string[] {
  return Object.entries(identityProviders).flatMap(([id, provider]) =>
    provider.type === 'oidc' && provider.acceptBearer ? [id] : [],
  );
}

function submoduleNote([name, { submodules, revisions }]: [string, ConnectionSettings]): string[] {
  if (!submodules || revisions.branches.length + revisions.tags.length === 0) return [];
  return [
    `connection ${name}: only the submodules of the default branch are indexed, not those of its other branches and tags`,
  ];
}

export function describeCheck(fileCheck: CheckedFile): string {
  const { diagnostics, file, secrets, probed, probedProviders } = fileCheck;
  const connections = Object.entries(file.connections).map(([connection, settings]) => ({
    connection,
    type: settings.type,
    selects: selectionOf(settings),
  }));
  const reads = secrets.map(({ key, from, problem = 'found' }) => ({ key, from, state: problem }));
  const tables = [
    connections.length > 0 && formatTable(['connection', 'type', 'selects'], connections),
    reads.length > 0 && formatTable(['key', 'from', 'state'], reads),
    probed.length > 0 && formatTable(['connection', 'state', 'says'], probed),
    probedProviders.length > 0 && formatTable(['provider', 'state', 'says'], probedProviders),
  ];
  const lines = diagnostics.map((diagnostic) => `${escapeControls(diagnostic)}\n`).join('');
  return lines + tables.filter((table) => table !== false).join('\n');
}

function describeParts({ file }: CheckedFile): string {
  return [
    countOf(Object.keys(file.settings).length, 'setting'),
    countOf(Object.keys(file.connections).length, 'connection'),
    countOf(Object.keys(file.contexts).length, 'context'),
    countOf(file.permissions.grants.length, 'grant'),
    countOf(Object.keys(file.identityProviders).length, 'identity provider'),
  ].join(', ');
}

export function addConfigCommand(program: Command, context: CliContext): void {
  const group = program
    .command('config')
    .summary('check a configuration file, show its schema')
    .description('Checks configuration files, and shows their schema.');
  const checking = group
    .command('check')
    .summary('check a configuration file')
    .description(
      'Shows all mistakes in a configuration file; without mistakes what each connection selects, which secrets are read, ' +
        'and whether they exist. Secrets are not shown. Exit code: 0 valid, 1 problems found, 2 could not run.',
    )
    .argument('[file]', 'path or http(s) address (default: TRAWL_CONFIG)')
    .option(
      '--online',
      'also check address and credential at each host, and the metadata of each identity provider',
    )
    .action((file: string | undefined, flags: CheckFlags) => check(file, flags, context));
  addExamples(checking, [
    'trawl config check trawl.json',
    'trawl config check --online trawl.json',
  ]);
  const schema = group
    .command('schema')
    .summary('show the JSON schema of configuration files')
    .description(
      'Shows the JSON schema of configuration files, for editors; a daemon serves it at /schemas/config.json.',
    )
    .action(async () => {
      const { schemaDocument } = await import('../../base/config/schema-document.ts');
      context.stdout.write(`${JSON.stringify(schemaDocument(), undefined, 2)}\n`);
    });
  addExamples(schema, ['trawl config schema > trawl.schema.json']);
  addExamples(group, ['trawl config check trawl.json', 'trawl config schema']);
}
