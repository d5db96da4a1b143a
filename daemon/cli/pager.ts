// Shows results that a terminal has too few lines for in a pager, as git does: `$PAGER`, else less. An empty `PAGER`, or `cat`,
// is none.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** To standard output. Ends with the pager. */
export async function page(text: string): Promise<void> {
  const { stdout } = process;
  const command = process.env['PAGER'] ?? 'less';
  const isShort = !stdout.isTTY || lineCount(text, stdout.columns, stdout.rows) < stdout.rows;
  if (isShort || command === '' || command === 'cat') {
    stdout.write(text);
    return;
  }
  // Why: colours as they are, the end where all fits, and the text stays on the screen.
  const env = { LESS: 'FRX', ...process.env };
  const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
  // The pager decides what an interrupt means; it may be left before all is read.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  pager.stdin.on('error', ignore);
  pager.stdin.end(text);
  const [code] = (await once(pager, 'close')) as [number | null];
  process.off('SIGINT', ignore);
  // The shell has found no such program.
  if (code === 127) stdout.write(text);
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
