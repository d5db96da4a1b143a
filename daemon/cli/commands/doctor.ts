// `trawl doctor`: checks what a daemon needs, and says what to do where something is wrong.

import type { Command } from 'commander';
import { type CliContext, EXIT_ERROR, EXIT_NONE, EXIT_OK } from '../context.ts';
import type { Finding } from '../doctor.ts';
import { formatJsonLines, type OperatorFlags } from '../operator-output.ts';
import { addAction, commonOptions } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

const CODES = { ok: EXIT_OK, warning: EXIT_NONE, failure: EXIT_ERROR } as const;

export function describeFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ check, level, says, remedy }) => {
      const line = `${level.padEnd(7)}  ${check.padEnd(13)}  ${escapeControls(says)}\n`;
      return remedy === null ? line : `${line}${' '.repeat(24)}remedy: ${escapeControls(remedy)}\n`;
    })
    .join('');
}

async function run(flags: OperatorFlags, context: CliContext): Promise<void> {
  const { diagnose } = await import('../doctor.ts');
  const { findings, isStuck } = await diagnose(commonOptions(flags));
  context.stdout.write(flags.json ? formatJsonLines(findings) : describeFindings(findings));
  const code = Math.max(...findings.map(({ level }) => CODES[level]));
  if (isStuck) context.endNow(code);
  else context.setExitCode(code);
}

export function addDoctorCommand(program: Command, context: CliContext): void {
  const command = program
    .command('doctor')
    .summary('check what a daemon needs')
    .description(
      'Checks Node.js, git, limits, disk, rights, configuration, hosts, store and the running daemon, each within a minute. ' +
        'It changes nothing and shows no secret. Run it as the account of the daemon, with the same variables and options.\n' +
        'Exit code: 0 all is well, 1 warnings only, 2 something does not work.',
    )
    .option('--json', 'one JSON object per line');
  addAction(command, context, run, [
    'trawl doctor',
    'trawl doctor --data-dir /var/lib/trawl --config /etc/trawl.json --json',
  ]);
}
