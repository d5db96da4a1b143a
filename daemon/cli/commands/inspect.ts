// `trawl inspect [SHARD]`: describes a shard file, or all shards of an index.

import type { Command } from 'commander';
import { systemCodeOf } from '../../base/caught.ts';
import { someNames } from '../../repos/some-names.ts';
import type { CliContext } from '../context.ts';
import { noFileError, UsageError } from '../errors.ts';
import { formatColumns, formatCount, formatRows } from '../format.ts';
import type { ShardReport } from '../index-files.ts';
import { addExamples, addFileOptions } from '../options.ts';
import { formatSummary, shardFields } from '../summary-output.ts';
import { escapeControls } from '../terminal-text.ts';

interface InspectFlags {
  readonly dataDir: string;
  readonly docs?: true;
  readonly skipped?: true;
  readonly trigram?: string;
  readonly json?: true;
}

function ratio(size: number, contentSize: number): string {
  return contentSize > 0 ? `${(size / contentSize).toFixed(3)} x content` : '';
}

function headRows(report: ShardReport): [string, string][] {
  const { fileSize, contentSize } = report;
  return [
    ['path', report.path],
    ['format version', String(report.formatVersion)],
    ['file', `${formatCount(fileSize)} bytes  ${ratio(fileSize, contentSize)}`.trimEnd()],
    ['content', `${formatCount(contentSize)} bytes`],
    ['docs', formatCount(report.docCount)],
    ['blocks', formatCount(report.blockCount)],
    ['trigrams', formatCount(report.trigramCount)],
    ['repos', someNames(report.repos.map(({ repoId, name }) => `${repoId} ${name}`))],
    ...(report.index === undefined ? [] : shardFields(report.index)),
  ];
}

export function formatReport(report: ShardReport): string {
  const sections = report.sections.map(({ name, offset, size, checksum }) => [
    name,
    formatCount(offset),
    formatCount(size),
    checksum,
    ratio(size, report.contentSize),
  ]);
  const docs = (report.docs ?? []).map(({ docId, path, size, language, skipReason }) => [
    String(docId),
    formatCount(size),
    skipReason ?? language,
    escapeControls(path),
  ]);
  const { postings } = report;
  const parts = [
    formatRows(headRows(report)),
    formatColumns([['section', 'offset', 'bytes', 'checksum', 'ratio'], ...sections]),
    ...(report.docs ? [formatColumns([['doc', 'bytes', 'language', 'path'], ...docs])] : []),
    ...(postings
      ? [
          `trigram ${JSON.stringify(postings.trigram)}: ${formatCount(postings.blockIds.length)} ` +
            `blocks\n${postings.blockIds.join(' ')}\n`,
        ]
      : []),
  ];
  return parts.join('\n');
}

export function addInspectCommand(program: Command, { stdout }: CliContext): void {
  const command = program
    .command('inspect')
    .summary('describe an index or a shard')
    .description(
      'For a shard file: the header, the sections, the counts and the size ratios, and its place in the index.\n' +
        'Without one, for the index: live docs, other docs in the shards, which repositories share them, and ' +
        'the next merge.',
    )
    .argument('[shard]', 'path of a shard file')
    .option('--docs', 'list the docs')
    .option('--skipped', 'list the docs that are found only by name, with the reason')
    .option('--trigram <text>', 'list the blocks of this trigram')
    .option('--json', 'the report as JSON');
  addFileOptions(command);
  addExamples(command, [
    'trawl inspect',
    'trawl inspect .trawl/shards/ID.shard',
    'trawl inspect --trigram abc --json .trawl/shards/ID.shard',
  ]);
  command.action(async (path: string | undefined, flags: InspectFlags) => {
    const { docs, skipped, trigram, json } = flags;
    const { inspectShard, summarizeIndex } = await import('../index-files.ts');
    if (path !== undefined) {
      const listed = skipped ? 'skipped' : docs && 'all';
      const report = await inspectShard({ path, docs: listed, trigram }).catch((error: unknown) => {
        if (systemCodeOf(error) !== 'ENOENT') throw error;
        throw noFileError(path);
      });
      stdout.write(json ? `${JSON.stringify(report)}\n` : formatReport(report));
      return;
    }
    if (docs || skipped || trigram !== undefined)
      throw new UsageError(
        '--docs, --skipped and --trigram apply to a shard: give the path of its file',
      );
    const report = await summarizeIndex(flags.dataDir);
    stdout.write(json ? `${JSON.stringify(report)}\n` : formatSummary(report));
  });
}
