// Shows results that a terminal has too few lines for in a pager, as git does: `$PAGER`, else less. An empty `PAGER`, or `cat`,
// is none.

import { once } from 'node:events';

const ignored = (): void => {};

/** To standard output. Ends with the pager. */
export async function showPaged(text: string): Promise<void> {
  const { stdout } = process;
  const command = process.env['PAGER'] ?? 'less';
  // A terminal in an editor has no size, or moves no cursor.
  const isPlain =
    !stdout.isTTY || !stdout.rows || !stdout.columns || process.env['TERM'] === 'dumb';
  const isShort = isPlain || lineCount(text, stdout.columns, stdout.rows) < stdout.rows;
  if (isShort || command === '' || command === 'cat') {
    stdout.write(text);
    return;
  }
  // Why here: loading it takes a part of each start.
  const { spawn } = await import('node:child_process');
  // Why: colours as they are, the end where all fits, and the text stays on the screen.
  const env = { LESS: 'FRX', ...process.env };
  const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
  // The pager decides what an interrupt means; it may be left before all is read.
  process.on('SIGINT', ignored);
  pager.stdin.on('error', ignored);
  pager.stdin.end(text);
  await once(pager, 'close');
  process.off('SIGINT', ignored);
  // The shell has found no such program.
  if (pager.exitCode === 127) stdout.write(text);
}

/** Lines on the screen, colours counted as text; stops at `enough`. */
function lineCount(text: string, width: number, enough: number): number {
  let [count, start] = [0, 0];
  while (count < enough && start < text.length) {
    const end = text.indexOf('\n', start);
    const next = end < 0 ? text.length : end;
    count += Math.max(1, Math.ceil((next - start) / width));
    start = next + 1;
  }
  return count;
}
