// `trawl inspect SHARD`: what a shard file holds.

import type { Command } from 'commander';
import type { Inspection } from '../../engine/shards/inspect.ts';
import type { CliContext } from '../context.ts';
import { formatColumns, formatCount } from '../format.ts';
import { addExamples } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

interface InspectFlags {
  readonly docs?: true;
  readonly skipped?: true;
  readonly trigram?: string;
  readonly json?: true;
}

function ratio(size: number, contentSize: number): string {
  return contentSize > 0 ? `${(size / contentSize).toFixed(3)} x content` : '';
}

function headRows(report: Inspection): string[][] {
  const { fileSize, contentSize } = report;
  return [
    ['path', escapeControls(report.path)],
    ['format version', String(report.formatVersion)],
    ['file', `${formatCount(fileSize)} bytes  ${ratio(fileSize, contentSize)}`.trimEnd()],
    ['content', `${formatCount(contentSize)} bytes`],
    ['docs', formatCount(report.docCount)],
    ['blocks', formatCount(report.blockCount)],
    ['trigrams', formatCount(report.trigramCount)],
    ...report.repos.map(({ repoId, name }) => [
      'repo',
      `${String(repoId)} ${escapeControls(name)}`,
    ]),
  ].map(([name, value]) => [`${name ?? ''}:`, value ?? '']);
}

/** The report as text: the head, a table of sections, then docs and postings if it has them. */
export function formatReport(report: Inspection): string {
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
  const width = Math.max(...headRows(report).map(([name]) => (name ?? '').length));
  const parts = [
    headRows(report)
      .map(([name, value]) => `${(name ?? '').padEnd(width)} ${value ?? ''}\n`)
      .join(''),
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

/** Adds the command to `program`. */
export function addInspectCommand(program: Command, { services, stdout }: CliContext): void {
  const command = program
    .command('inspect')
    .summary('show what a shard holds')
    .description('Shows the header, the sections, the counts and the size ratios of a shard file.')
    .argument('<shard>', 'path of a shard file')
    .option('--docs', 'list the docs')
    .option('--skipped', 'list the docs that are known by name only, with the reason')
    .option('--trigram <text>', 'list the blocks of this trigram')
    .option('--json', 'the report as JSON');
  addExamples(command, [
    'trawl inspect .trawl/shards/00000001.shard',
    'trawl inspect --trigram abc --json .trawl/shards/00000001.shard',
  ]);
  command.action(async (path: string, { docs, skipped, trigram, json }: InspectFlags) => {
    const report = await services.inspectShard({
      path,
      docs: skipped ? 'skipped' : docs && 'all',
      trigram,
    });
    stdout.write(json ? `${JSON.stringify(report)}\n` : formatReport(report));
  });
}
