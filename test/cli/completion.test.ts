// Completion in real shells, and man pages under a real checker. Those that are not installed are skipped.
// tier: ci (shells)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { trawl } from '../e2e/daemon.ts';

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const needs = (program: string) => ({ skip: isThere(program) ? false : `needs ${program}` });

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout } = await trawl(['completion', shell]);
  assert.equal(code, 0);
  const file = path.join(temporaryFolder(), shell === 'zsh' ? '_trawl' : 'trawl');
  writeFileSync(file, stdout);
  return file;
}

function linesOf(program: string, args: readonly string[]): string[] {
  const env = { PATH: process.env['PATH'], HOME: temporaryFolder(), TERM: 'dumb' };
  const { stdout, stderr } = spawnSync(program, args, { cwd: '/', env });
  assert.equal(stderr.toString(), '', program);
  return stdout.toString().split(/\r?\n/).filter(Boolean);
}

/** What each shell offers at the end of a command line. */
const EXPECTED: readonly (readonly [line: string, some: readonly string[], not: string])[] = [
  ['trawl se', ['search', 'serve'], 'status'],
  ['trawl search --color ', ['always', 'auto', 'never'], 'search'],
  ['trawl search --max', ['--max-columns', '--max-count'], '--matches'],
  ['trawl key ', ['create', 'list'], 'search'],
  ['trawl config check --on', ['--online'], '--only-matching'],
];

function holds(found: readonly string[], line: string, some: readonly string[], not: string): void {
  for (const word of some) assert.ok(found.includes(word), `${line}: ${word} in ${found.join()}`);
  assert.ok(!found.includes(not), `${line}: ${not} in ${found.join()}`);
}

test('bash', needs('bash'), async () => {
  const file = await scriptOf('bash');
  for (const [line, ...rest] of EXPECTED) {
    const words = line.split(' ');
    const code =
      `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); ` +
      `COMP_CWORD=${words.length - 1}; _trawl; printf '%s\\n' "\${COMPREPLY[@]}"`;
    holds(linesOf('bash', ['--norc', '-c', code]), line, ...rest);
  }
});

test('fish', needs('fish'), async () => {
  const file = await scriptOf('fish');
  for (const [line, ...rest] of EXPECTED) {
    const found = linesOf('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`]);
    holds(
      found.map((one) => one.split('\t', 1)[0] ?? ''),
      line,
      ...rest,
    );
  }
});

test('zsh', needs('zsh'), async () => {
  const folder = path.dirname(await scriptOf('zsh'));
  // Completion runs in the line editor alone: a shell in a terminal of its own is typed into.
  for (const [line, ...rest] of EXPECTED) {
    const code = `zmodload zsh/zpty; zpty -b z zsh -f -i
      zpty -w z 'PS1=; fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -D; stty columns 200 -echo; LISTMAX=0'
      zpty -w z 'zstyle ":completion:*" menu no; setopt list_ambiguous no_beep; bindkey "^X" list-choices; print ready-now'
      out=; while zpty -r z part '*ready-now*'; do break; done
      zpty -n -w z ${JSON.stringify(line)}$'\\x18'
      repeat 600; do zpty -rt z part && out+=$part; [[ $out == *${rest[0].join('*')}* ]] && break; sleep 0.05; done
      print -r -- "$out"; while zpty -rt z part; do print -r -- "$part"; sleep 0.05; done; zpty -d z`;
    const shown = linesOf('zsh', ['-f', '-c', code]).flatMap((one) => one.split(/\s+/));
    const typed = line.split(' ');
    holds(
      shown.filter((word) => !typed.includes(word)),
      line,
      ...rest,
    );
  }
});

const PAGES = temporaryFolder();

test('man pages: one a command, without a complaint of the checker', needs('mandoc'), () => {
  const writer = fileURLToPath(new URL('../../daemon/cli/write-man-pages.js', import.meta.url));
  const written = spawnSync(process.execPath, [writer, PAGES, '2026-01-31']);
  assert.equal(written.status, 0, String(written.stderr));
  const names = readdirSync(PAGES);
  assert.ok(['trawl.1', 'trawl-search.1', 'trawl-config.1'].every((name) => names.includes(name)));
  const files = names.map((name) => path.join(PAGES, name));
  const checked = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...files]);
  assert.equal(checked.stdout.toString(), '');
  const shown = spawnSync('mandoc', ['-T', 'utf8', path.join(PAGES, 'trawl-search.1')]);
  // oxlint-disable-next-line no-control-regex -- bold type of a terminal
  const text = shown.stdout.toString().replaceAll(/.\u0008/g, '');
  assert.match(text, /--only-matching\s+only what matches/);
  assert.match(text, /trawl search --vimgrep -e 'k\[mz\]alloc' -g '\*\.h'/);
});
