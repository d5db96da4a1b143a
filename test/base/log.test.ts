// Log lines: both forms, levels, labels, errors, and secrets that must not appear.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createLog, type LogOptions } from '../../daemon/base/log.ts';

function capture(options: Pick<LogOptions, 'format' | 'level'>) {
  const lines: string[] = [];
  return { lines, log: createLog({ ...options, write: (line) => lines.push(line) }) };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('json: one object a line with level, label, timestamp, message and fields', () => {
  const { lines, log } = capture({ format: 'json', level: 'info' });
  log.labelled('ingest').info('progress', { requestId: 'r1', progress: { done: 1, total: 4 } });
  assert.equal(lines.length, 1);
  assert.ok(lines[0]?.endsWith('}\n'));
  const { timestamp, ...rest } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.match(String(timestamp), TIME);
  assert.deepEqual(rest, {
    level: 'info',
    label: 'ingest',
    message: 'progress',
    requestId: 'r1',
    progress: { done: 1, total: 4 },
  });
});

test('text: one line, values quoted where needed, control characters escaped', () => {
  const { lines, log } = capture({ format: 'text', level: 'debug' });
  log.warn('two\nlines "quoted"', { name: 'a b', count: 3, plain: 'x/y', nested: { a: 1 } });
  const line = lines[0] ?? '';
  const [timestamp = ''] = line.split(' ', 1);
  assert.match(timestamp, TIME);
  assert.equal(
    line.slice(timestamp.length),
    ' WARN  [trawl] two\\nlines "quoted" name="a b" count=3 plain=x/y nested={"a":1}\n',
  );
});

test('text: a line of simple fields, which is written without JSON, equals one of other levels', () => {
  const { lines, log } = capture({ format: 'text', level: 'info' });
  const key = `svk_${'a'.repeat(64)}`;
  const fields = {
    n: 1.5,
    none: undefined,
    nan: NaN,
    is: true,
    empty: '',
    a: 'x=y',
    b: 'é "',
    c: 'x\u001b',
    key,
  };
  for (const message of ['plain', 'two\nwords "quoted" \u009b', `with ${key}`]) {
    log.info(message, fields);
    log.warn(message, fields);
  }
  const rest = lines.map((line) => line.slice(line.indexOf(' ')).replace(/^ (?:INFO|WARN) +/, ''));
  for (let i = 0; i < rest.length; i += 2) assert.equal(rest[i], rest[i + 1]);
  assert.match(lines[0]!, /^\S+Z INFO {2}\[trawl\] plain n=1\.5 nan=null is=true empty="" a="x=y"/);
  assert.doesNotMatch(lines.join(''), /aaaa/);
});

test('text: no file name puts terminal control characters into a line', () => {
  const { lines, log } = capture({ format: 'text', level: 'info' });
  const error = new Error('no\u001b[2J\u009bfile');
  log.error('m\u001b', {
    path: 'a\u001b[31mb',
    other: 'c\u007f\u009bd\u202e e',
    plain: 'é',
    error,
  });
  assert.doesNotMatch(lines.join(''), /[^\P{C}\n]/u);
  assert.ok(
    lines[0]?.includes(String.raw` path="a\u001b[31mb" other="c\u{7f}\u{9b}d\u{202e} e" plain=é`),
  );
});

test('levels below the chosen one are not written', () => {
  const { lines, log } = capture({ format: 'json', level: 'warn' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  assert.equal(lines.length, 2);
  assert.equal(log.isEnabled('info'), false);
  assert.equal(log.labelled('x').isEnabled('error'), true);
});

test('an error text is on the line of its message', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'text', write: (line) => void lines.push(line) });
  log.error('indexing failed', { error: 'the disk\nis full', repo: 'local/a' });
  assert.match(
    lines.join(''),
    /ERROR \[trawl\] indexing failed repo=local\/a error="the disk\\nis full"\n$/,
  );
});

test('errors are written with their stack, in both forms', () => {
  for (const format of ['json', 'text'] as const) {
    const { lines, log } = capture({ format, level: 'info' });
    log.error('failed', { error: new TypeError('odd value') });
    assert.match(lines.join(''), /TypeError: odd value/);
    assert.match(lines.join(''), /log\.test/);
  }
});

test('secrets are hidden, by key name and by form', () => {
  const key = `svk_${'0123456789abcdef'.repeat(4)}`;
  for (const format of ['json', 'text'] as const) {
    const { lines, log } = capture({ format, level: 'info' });
    log.info(`key ${key}`, {
      authorization: 'hush',
      headers: { authorization: 'hush', cookie: 'hush' },
      user: { login: { password: 'hush' } },
      path: `/x?key=${key}`,
      error: new Error(`bad ${key}`),
    });
    const text = lines.join('');
    assert.ok(!text.includes('hush'), text);
    assert.ok(!text.includes(key.slice(4)), text);
    assert.match(text, /svk_\[redacted\]/);
  }
});

test('a file is created with its folder and appended to; warnings are flushed at once with the lines before', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-log-'));
  const file = path.join(folder, 'logs', 't.log');
  const messages = (): string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { message: string }).message);
  const log = createLog({ level: 'info', format: 'json', file });
  log.info('one');
  while (messages().length === 0) await new Promise(setImmediate);
  assert.deepEqual(messages(), ['one']);
  log.info('two');
  log.warn('three');
  assert.deepEqual(messages(), ['one', 'two', 'three']);
  createLog({ level: 'info', format: 'json', file }).error('four');
  assert.deepEqual(messages(), ['one', 'two', 'three', 'four']);
  // More than is kept waiting.
  for (let i = 0; i < 1000; i++) log.info('x'.repeat(100));
  assert.ok(messages().length > 500);
  while (messages().length < 1004) await new Promise(setImmediate);
  assert.equal(messages().length, 1004);
  rmSync(folder, { recursive: true });
});

test('buffered lines are written when the process ends', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-log-'));
  const file = path.join(folder, 't.log');
  const module = new URL('../../daemon/base/log.js', import.meta.url).href;
  const script = `import { createLog } from ${JSON.stringify(module)};
    createLog({ level: 'info', format: 'json', file: ${JSON.stringify(file)} }).info('last words');
    process.exit(3);`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script]);
  assert.equal(status, 3);
  assert.match(readFileSync(file, 'utf8'), /last words/);
  rmSync(folder, { recursive: true });
});

test('a full disk stops nothing: lines wait, further ones are counted and reported', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-log-'));
  const file = path.join(folder, 't.log');
  const module = new URL('../../daemon/base/log.js', import.meta.url).href;
  const script = `import { createLog } from ${JSON.stringify(module)};
    import { readFileSync, truncateSync } from 'node:fs';
    const file = ${JSON.stringify(file)};
    const log = createLog({ level: 'info', format: 'json', file });
    const turn = () => new Promise(setImmediate);
    for (let i = 0; i < 2000; i++) log.warn('x'.repeat(1000), { i });
    await turn();
    console.log(log.lastError);
    log.warn('dropped');
    await turn();
    // There is room again: the limit is on the size of a file.
    let text = '';
    while (log.lastError !== undefined) {
      text += readFileSync(file, 'utf8');
      truncateSync(file);
      log.warn('after');
      await turn();
    }
    text += readFileSync(file, 'utf8');
    const parsed = text.trim().split('\\n').map((line) => JSON.parse(line));
    console.log(JSON.stringify(parsed.map(({ message, ...rest }) => ({ ...rest, message: message.slice(0, 50) }))));`;
  const limited = ['-c', 'ulimit -f 1024 && exec "$0" "$@"', process.execPath];
  const { status, stdout, stderr } = spawnSync(
    'sh',
    [...limited, '--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const [lastError = '', lines = ''] = stdout.trim().split('\n');
  assert.match(lastError, /EFBIG/);
  const parsed = JSON.parse(lines) as { message: string; i?: number; lostLines?: number }[];
  assert.ok(parsed.filter(({ i }) => i !== undefined).length < 2000);
  const reported = parsed.filter(({ message }) => message.includes('could not be written'));
  assert.equal(reported.length, 1);
  const written = parsed.filter(({ i }) => i !== undefined);
  assert.deepEqual(
    written.map(({ i }) => i),
    written.map((_, index) => index),
  );
  assert.ok(reported[0]!.lostLines! >= 2000 - written.length);
  rmSync(folder, { recursive: true });
});
