// `trawl search` on a real terminal, which script(1) makes: headings, colours, the pager, the offer to index; and ripgrep's
// habits in Vim. Each is skipped where the program is missing.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { MAIN, startTrawl, trawl } from '../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const needs = (program: string) => ({ skip: isThere(program) ? false : `needs ${program}` });

const repo = makeRepo({
  'src/a.c': 'int plum;\n',
  'src/long.c': 'plum\n'.repeat(100),
});

/** What a terminal of 24 lines shows. */
function onTerminal(command: string, { cwd = repo, input = '', env = {}, rows = 24 } = {}): string {
  const text = `stty rows ${rows} cols 80; ${process.execPath} ${MAIN} ${command}`;
  const { stdout } = spawnSync('script', ['-qec', text, '/dev/null'], {
    cwd,
    input,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'xterm', ...env },
  });
  return stdout.toString().replaceAll('\r\n', '\n');
}

test(
  'on a terminal: an index is offered, then there are headings and colours',
  needs('script'),
  () => {
    const below = path.join(repo, 'src');
    // TRAWL_PORT: no daemon listens there.
    const env = { TRAWL_PORT: '1' };
    const refused = onTerminal('search int', { cwd: below, input: 'n\n', env });
    assert.match(
      refused,
      /There is no index here\. Index .* now\? \[Y\/n\][^]*no index in .*trawl index PATH/,
    );
    assert.ok(!existsSync(path.join(repo, '.trawl')));
    const shown = onTerminal('search int', { cwd: below, input: 'y\n', env });
    assert.ok(shown.includes(`Index ${repo} now?`), shown);
    assert.ok(
      shown.endsWith(
        '\u001b[35ma.c\u001b[0m\n\u001b[32m1\u001b[0m:\u001b[1;31mint\u001b[0m plum;\n',
      ),
      shown,
    );
  },
);

test('on a terminal: results that are longer go to the pager', needs('script'), () => {
  const env = { PAGER: 'sed s/plum/PAGED/; echo "$LESS"' };
  const long = onTerminal('search plum --color never file:long', { env });
  assert.match(long, /^100:PAGED$/m);
  assert.match(long, /^FRX$/m);
  assert.doesNotMatch(onTerminal('search int --color never', { env }), /PAGED|FRX/);
  assert.doesNotMatch(onTerminal('search plum --color never', { env, rows: 0 }), /PAGED|FRX/);
  const dumb = onTerminal('search plum', { env: { ...env, TERM: 'dumb' } });
  assert.match(dumb, /^100:plum$/m);
  assert.match(
    onTerminal('search plum file:long', { env: { PAGER: 'no-such-pager' } }),
    /^.*100.*plum/m,
  );
});

test('from a folder below a source the daemon is found that serves it', async () => {
  const home = temporaryFolder();
  const env = { XDG_STATE_HOME: path.join(home, 'state') };
  const source = makeRepo({ 'a/b/plum.txt': 'plum\n' });
  const dataDir = path.join(home, 'data');
  mkdirSync(dataDir);
  const running = startTrawl(['serve', '--port', '0', '--data-dir', dataDir, source], { env });
  await running.until(/^Serving on (\S+)$/m);
  await running.until(/ docs?, /);
  const options = { cwd: path.join(source, 'a'), env };
  assert.equal((await trawl(['search', 'plum'], options)).stdout, 'b/plum.txt:1:plum\n');
  // That only a daemon has.
  const context = await trawl(['search', 'context:none plum'], options);
  assert.doesNotMatch(context.stderr, /running daemon/);
  await running.stop();
  assert.equal((await trawl(['search', 'plum'], options)).stdout, 'b/plum.txt:1:plum\n');
});

test('Vim takes it as its grepprg', needs('vim'), async () => {
  const source = makeRepo({ 'a.c': 'x\nint  plum;\n', 'b c.c': 'plum plum\n' });
  assert.equal((await trawl(['index', '.'], { cwd: source })).code, 0);
  const places = path.join(temporaryFolder(), 'places');
  const [, line = ''] =
    /^\| Vim \| `(set .+?)`/m.exec(readFileSync('daemon/cli/README.md', 'utf8')) ?? [];
  const program = String.raw`grepprg=${process.execPath}\ ${MAIN}\ `;
  const commands = [
    line.replace(String.raw`grepprg=trawl\ `, program),
    'silent grep! plum',
    `call writefile(map(getqflist(), 'bufname(v:val.bufnr) . " " . v:val.lnum . " " . v:val.col'), "${places}")`,
    'qa!',
  ];
  const script = path.join(temporaryFolder(), 'script.vim');
  writeFileSync(script, commands.join('\n'));
  const ran = spawnSync('vim', ['-es', '-u', 'NONE', '-S', script], { cwd: source });
  assert.equal(ran.status, 0, String(ran.stderr));
  const { stdout } = spawnSync('cat', [places]);
  assert.deepEqual(stdout.toString().trimEnd().split('\n').sort(), [
    'a.c 2 6',
    'b c.c 1 1',
    'b c.c 1 6',
  ]);
});
