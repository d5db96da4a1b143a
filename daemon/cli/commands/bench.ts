// `trawl bench`: times an instance with the operator's own queries, and compares with an earlier run.

import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { type CliContext, EXIT_NONE, EXIT_OK } from '../context.ts';
import { UsageError } from '../errors.ts';
import { addExamples, integer, readSecret, readVariable } from '../options.ts';
import { addressOf, parseJson } from '../remote-search.ts';

interface BenchFlags {
  readonly url?: string;
  readonly apiKey?: string;
  readonly queries: string;
  readonly seconds: number;
  readonly connections: number;
  readonly rate?: number;
  readonly out?: string;
  readonly against?: string;
  readonly html?: string;
}

/** Errors: UsageError. What is in the file stays. */
function checkWritable(file: string | undefined): void {
  try {
    if (file !== undefined) closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

async function versionOf(url: string): Promise<{ product: string; commit: string }> {
  const address = addressOf(url, 'api/version');
  let text: string;
  try {
    text = await (await fetch(address)).text();
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const reason = systemCodeOf(cause) ?? messageOf(cause);
    throw new UsageError(`cannot reach ${address.origin}: ${reason}`, { cause: error });
  }
  const answer = parseJson(text);
  if (typeof answer === 'object' && answer !== null && 'version' in answer)
    return {
      product: String(answer.version),
      commit: 'commit' in answer ? String(answer.commit) : '',
    };
  throw new UsageError(`unexpected answer from ${address.href}; is it a Trawl daemon?`);
}

async function runBench(flags: BenchFlags, context: CliContext) {
  const { stdout, stderr } = context;
  const url = flags.url ?? readVariable('TRAWL_URL');
  if (url === undefined) throw new UsageError('name the instance with --url or TRAWL_URL');
  const { parseQueries } = await import('../bench/queries.ts');
  const { openAsker } = await import('../bench/load.ts');
  const { measureInstance } = await import('../bench/run.ts');
  const { readRecord, withVersion, writeRecord } = await import('../bench/record.ts');
  const { compareRuns, formatComparison, formatRun, isWorse } = await import('../bench/compare.ts');
  const { htmlReport } = await import('../bench/html-report.ts');
  const before = flags.against === undefined ? undefined : readRecord(flags.against);
  const queries = parseQueries(readText(flags.queries));
  if (before !== undefined && before.corpus.version !== queries.digest)
    throw new UsageError(`${flags.against ?? ''} is a run of other queries`);
  if (queries.skippedCount > 0)
    stderr.write(`${queries.skippedCount} lines without a search are left out\n`);
  const version = await versionOf(url);
  for (const file of [flags.out, flags.html]) checkWritable(file);
  const asker = openAsker(
    addressOf(url, 'api/search'),
    flags.apiKey ?? readSecret('TRAWL_API_KEY'),
  );
  try {
    const measured = await measureInstance(queries, asker, {
      seconds: flags.seconds,
      connectionCount: flags.connections,
      rate: flags.rate ?? before?.figures['openLoopRate'],
      ...version,
      onPhase: (text) => stderr.write(`${text} ...\n`),
    });
    const record = withVersion(measured);
    stdout.write(formatRun(record));
    const compared = before && compareRuns(before, record);
    if (compared) stdout.write(`\n${formatComparison(compared)}`);
    if (flags.out !== undefined) writeRecord(flags.out, record);
    if (flags.html !== undefined) writeFileSync(flags.html, htmlReport(record, compared));
    const isBad = record.cases.some(({ problem }) => problem !== undefined);
    context.setExitCode(
      isBad || (compared !== undefined && isWorse(compared)) ? EXIT_NONE : EXIT_OK,
    );
  } finally {
    asker.close();
  }
}

export function addBenchCommand(program: Command, context: CliContext): void {
  const command = program
    .command('bench')
    .summary('time an instance with your own queries')
    .description(
      'Asks a running instance the queries of a file: by one connection, by many, and at a fixed rate. Compares with ' +
        'an earlier run, for example before and after an upgrade. Exit code 1: slower, or a wrong answer.',
    )
    .requiredOption(
      '--queries <file>',
      'a query a line, a JSON body of POST /api/search a line, or the log of a daemon in JSON with logLevel debug',
    )
    .option('--url <url>', 'instance to ask (env: TRAWL_URL)')
    .option('--api-key <key>', 'key for it (env: TRAWL_API_KEY, TRAWL_API_KEY_FILE)')
    .option('--seconds <count>', 'length of each of the three phases', integer(1), 10)
    .option('--connections <count>', 'connections of the closed loop', integer(1, 1000), 8)
    .option(
      '--rate <count>',
      'requests a second of the open loop (default: that of --against, else half of what the closed loop reached)',
      integer(1),
    )
    .option('--out <file>', 'store the run')
    .option('--against <file>', 'compare with a stored run of the same queries')
    .option('--html <file>', 'write a report with plots; it opens offline');
  addExamples(command, [
    'trawl bench --url http://localhost:3000 --queries queries.txt --out before.json',
    'trawl bench --url http://localhost:3000 --queries queries.txt --against before.json',
  ]);
  command.action((flags: BenchFlags) => runBench(flags, context));
}
