// `trawl config ...`: what a configuration file may hold, and whether one is right.

import type { Command } from 'commander';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import { selectionOf } from '../../base/config/survey.ts';
import { type CliContext, EXIT_NONE, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { countOf } from '../format.ts';
import { formatTable } from '../operator-output.ts';
import { addExamples, readVariable } from '../options.ts';
import type { SurveyedFile } from '../services.ts';
import { escapeControls } from '../terminal-text.ts';

interface CheckFlags {
  readonly online?: true;
}

async function check(
  given: string | undefined,
  { online }: CheckFlags,
  context: CliContext,
): Promise<void> {
  const { services, stdout, stderr, env } = context;
  const place = given ?? readVariable(env, 'TRAWL_CONFIG');
  if (place === undefined) throw new UsageError('name a file, or set TRAWL_CONFIG');
  const survey = await services.surveyConfiguration(place, online === true);
  const { mistakes, secrets, probed, probedProviders } = survey;
  stdout.write(describeSurvey(survey));
  for (const note of notesOf(survey)) stderr.write(`note: ${note}\n`);
  const missing = secrets.filter(({ problem }) => problem !== undefined);
  const failed = [...probed, ...probedProviders].filter(({ state }) => state === 'failed');
  const isRight = mistakes.length + missing.length + failed.length === 0;
  const counts = [
    countOf(mistakes.length, 'mistake'),
    `${countOf(missing.length, 'secret')} missing`,
    ...(online === true ? [`${countOf(failed.length, 'host')} not reached`] : []),
  ];
  stderr.write(isRight ? `right: ${describeParts(survey)}\n` : `${counts.join(', ')}\n`);
  context.setExitCode(isRight ? EXIT_OK : EXIT_NONE);
}

/** What has no effect, or none without a licence. */
function notesOf({ file }: SurveyedFile): string[] {
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
        ([what, , entitlement]) => `${what} need a licence with the entitlement "${entitlement}"`,
      ),
  ];
}

/** Ids of the providers whose tokens are accepted. */
function acceptingIn({ identityProviders }: SurveyedFile['file']): string[] {
  return Object.entries(identityProviders).flatMap(([id, provider]) =>
    provider.type === 'oidc' && provider.acceptBearer ? [id] : [],
  );
}

function submoduleNote([name, { submodules, revisions }]: [string, ConnectionSettings]): string[] {
  if (!submodules || revisions.branches.length + revisions.tags.length === 0) return [];
  return [
    `connection ${name}: submodules are those of the default branch; its other branches and tags are searched without theirs`,
  ];
}

/** Its mistakes a line each; else tables of its connections, of what it reads, and of what hosts say. */
export function describeSurvey(survey: SurveyedFile): string {
  const { mistakes, file, secrets, probed, probedProviders } = survey;
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
  const lines = mistakes.map((mistake) => `${escapeControls(mistake)}\n`).join('');
  return lines + tables.filter((table) => table !== false).join('\n');
}

function describeParts({ file }: SurveyedFile): string {
  return [
    countOf(Object.keys(file.settings).length, 'setting'),
    countOf(Object.keys(file.connections).length, 'connection'),
    countOf(Object.keys(file.contexts).length, 'context'),
    countOf(file.permissions.grants.length, 'grant'),
    countOf(Object.keys(file.identityProviders).length, 'identity provider'),
  ].join(', ');
}

/** Adds the command and its subcommands to `program`. */
export function addConfigCommand(program: Command, context: CliContext): void {
  const group = program
    .command('config')
    .summary('check a configuration file, show what it may hold')
    .description('Checks configuration files, and shows what they may hold.');
  const checking = group
    .command('check')
    .summary('say whether a configuration file is right')
    .description(
      'Says all that is wrong in a configuration file; else what each connection selects and which secrets are read,\n' +
        'and whether they are there. Secrets are not shown. Exit code: 0 right, 1 problems found, 2 could not run.',
    )
    .argument('[file]', 'path or http(s) address (default: TRAWL_CONFIG)')
    .option(
      '--online',
      'ask each host whether address and credential are right, each identity provider for what it is',
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
      'Shows the JSON schema of configuration files, for editors; a daemon has it at /schemas/config.json.',
    )
    .action(() => {
      const document = context.services.configurationSchema();
      context.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
    });
  addExamples(schema, ['trawl config schema > trawl.schema.json']);
  addExamples(group, ['trawl config check trawl.json', 'trawl config schema']);
}
