// `npm run bench:compare`: compares the records of two runs. Exit code 1: a case is slower, or wrong.

import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { compareRuns, formatComparison, isWorse } from '../daemon/cli/bench/compare.ts';
import { htmlReport } from '../daemon/cli/bench/html-report.ts';
import { readRecord } from '../daemon/cli/bench/record.ts';

await new Command('bench:compare')
  .description('Compares two stored runs: faster, slower or undecided, and why.')
  .argument('<before>', 'a file that "npm run bench -- --out" or "trawl bench --out" wrote')
  .argument('<after>', 'another one')
  .option('--html <file>', 'write a report with plots; it opens offline')
  .action((before: string, after: string, { html }: { readonly html?: string }) => {
    const compared = compareRuns(readRecord(before), readRecord(after));
    if (html !== undefined) writeFileSync(html, htmlReport(compared.after, compared));
    process.stdout.write(formatComparison(compared));
    if (isWorse(compared)) process.exitCode = 1;
  })
  .parseAsync();
