// `trawl backup FILE`, `trawl restore FILE`. Secrets come from standard input, a file or the environment.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../../base/caught.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import { countOf, formatBytes } from '../format.ts';
import { configurationOf } from '../open-local.ts';
import { withOperator } from '../operator-output.ts';
import {
  addAction,
  addOwnOptions,
  addExamples,
  commonOptions,
  readSecret,
  readSecretInput,
} from '../options.ts';
import type { CommonFlags } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

interface PassphraseFlags extends CommonFlags {
  readonly passphraseStdin?: true;
}

interface BackupFlags extends PassphraseFlags {
  readonly withIndex?: true;
}

interface RestoreFlags extends PassphraseFlags {
  readonly force?: true;
  readonly withoutPassphrase?: true;
  readonly secretFile?: string;
}

async function passphraseOption(
  { passphraseStdin }: PassphraseFlags,
  { stdin }: CliContext,
): Promise<string | undefined> {
  return passphraseStdin === undefined
    ? readSecret('TRAWL_BACKUP_PASSPHRASE')
    : await readSecretInput(stdin, 'passphrase');
}

async function backup(file: string, flags: BackupFlags, context: CliContext): Promise<void> {
  const { stderr } = context;
  const passphrase = await passphraseOption(flags, context);
  const { writeBackupFile } = await import('../backup-file.ts');
  const dataDir = path.resolve(flags.dataDir);
  const input = { withIndex: flags.withIndex ?? false, ...omitUndefined({ passphrase }) };
  const { size } = await withOperator(flags, (operator) =>
    writeBackupFile(file, dataDir, operator.backup(input)),
  );
  stderr.write(`${escapeControls(file)}: ${formatBytes(size)}\n`);
  const { MIRROR_FOLDER } = await import('../../index/catalog/catalog.ts');
  if (existsSync(path.join(dataDir, MIRROR_FOLDER)))
    stderr.write(
      'note: clones of hosted repositories are left out; after a restore the daemon fetches them again\n',
    );
  if (passphrase === undefined)
    stderr.write(
      'note: without a passphrase the instance secret and the licence key are left out;\n' +
        'a restore then needs the secret, or all keys, tokens and sessions are void\n',
    );
}

function secretOption(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

async function restore(file: string, flags: RestoreFlags, context: CliContext): Promise<void> {
  const { stderr } = context;
  const { restoreBackup } = await import('../../backup/restore.ts');
  const { createLog } = await import('../../base/log.ts');
  const configuration = await configurationOf(commonOptions(flags));
  const report = await restoreBackup({
    dataDir: configuration.dataDir,
    databaseUrl: configuration.databaseUrl?.reveal(),
    file,
    isForced: flags.force ?? false,
    passphrase: await passphraseOption(flags, context),
    isSecretDropped: flags.withoutPassphrase ?? false,
    secret: secretOption(flags.secretFile) ?? configuration.secret?.reveal(),
    log: createLog(configuration.log),
  });
  const { repoCount, userCount, createdAt, replaced } = report;
  if (replaced.length > 0) stderr.write(`replaced: ${escapeControls(replaced.join(', '))}\n`);
  stderr.write(
    `restored ${countOf(userCount, 'user')} and ${countOf(repoCount, 'repository', 'repositories')} ` +
      `as of ${createdAt}\n`,
  );
  if (!report.hasIndex) stderr.write('note: repositories are indexed again at the next start\n');
  if (report.cloneCount > 0)
    stderr.write(
      `note: ${countOf(report.cloneCount, 'clone')} must be fetched again by the next start; until then files and history of them are missing\n`,
    );
  if (!report.hasSecret)
    stderr.write(
      'warning: the instance secret of the backup is missing: all keys, tokens, sessions and links are\n' +
        `void. Restore again with --force and --secret-file, TRAWL_SECRET${
          report.isSealed ? ' or the passphrase' : ''
        } to keep them\n`,
    );
  if (report.isSealed)
    stderr.write('warning: without the passphrase the licence key is not restored\n');
}

export function addBackupCommands(program: Command, context: CliContext): void {
  const passphraseHelp =
    'read the passphrase from standard input (env: TRAWL_BACKUP_PASSPHRASE, TRAWL_BACKUP_PASSPHRASE_FILE)';
  const backing = program
    .command('backup')
    .summary('write a backup')
    .description(
      'Writes users, credentials, grants, settings, audit records and the catalog to FILE, as of one moment, ' +
        'whether or not the daemon runs. The instance secret and the licence key are only included encrypted, with a ' +
        'passphrase. Clones of hosted repositories are not included.',
    )
    .argument('<file>', 'file to write; an existing file is replaced at the end')
    .option('--with-index', 'add the index, so that nothing has to be indexed again')
    .option('--passphrase-stdin', passphraseHelp);
  addAction(backing, context, backup, [
    'trawl backup /var/backups/trawl.tar.gz --passphrase-stdin <passphrase.txt',
    'trawl backup trawl.tar.gz --with-index',
  ]);
  const restoring = program
    .command('restore')
    .summary('restore a backup')
    .description(
      'Restores a backup into an empty data directory, or with TRAWL_DATABASE_URL into PostgreSQL, whichever ' +
        'of both it came from. A damaged file changes nothing. The daemon must not be running.',
    )
    .argument('<file>', 'backup file')
    .option('--force', 'replace the content of the data directory and the store')
    .option('--passphrase-stdin', passphraseHelp)
    .option(
      '--without-passphrase',
      'restore a sealed backup without its passphrase: the licence key and, unless the secret is known, all keys are lost',
    )
    .option('--secret-file <file>', 'file with the instance secret (or variable TRAWL_SECRET)');
  addOwnOptions(restoring).action((file: string, flags: RestoreFlags) =>
    restore(file, flags, context),
  );
  addExamples(restoring, [
    'trawl restore trawl.tar.gz --data-dir /srv/trawl --passphrase-stdin <passphrase.txt',
    'trawl restore trawl.tar.gz --force --secret-file secret.txt',
  ]);
}
