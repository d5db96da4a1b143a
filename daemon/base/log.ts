// Log lines, as text or JSON: level, message, label, timestamp, requestId and further fields. Built on
// pino; what this file adds is the text form, the removal of secrets, and the file, which it writes itself: a full disk
// ends nothing. Callers decide what to say, and log queries at debug only.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { messageOf, systemCodeOf } from './caught.ts';
import type { LogFormat, LogLevel } from './log-levels.ts';

const RANKS = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;

/** Further members of a line; `requestId` ties it to a request, `progress` holds counts of a job. */
export interface LogFields {
  readonly requestId?: string;
  readonly error?: unknown;
  readonly [name: string]: unknown;
}

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Would a line of this level be written? For fields that cost something to make. */
  isEnabled(level: LogLevel): boolean;
  /** The same log under the name of a part of the daemon. */
  labelled(label: string): Log;
  /** Goes on in a new file of the same name where the old one was moved away. Errors: none: it goes on in the old one. */
  reopen(): void;
  /** From now on all that came of the same log are written so. */
  obey(form: Pick<LogOptions, 'level' | 'format'>): void;
  /** Why lines cannot be written now; undefined: they can. */
  readonly trouble: string | undefined;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absolute path, appended to; undefined: standard error. */
  readonly file?: string | undefined;
  /** Takes whole lines with their newline instead of a file; for tests. */
  readonly write?: (line: string) => void;
}

/** Members that never show their value, wherever they occur. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'apiKey', 'token'];
const REDACTED = '[redacted]';
const SECRET_VALUE = /\b(svk|svst|svoa)_[0-9a-f]{64}/g;

/** A log whose lines are written in order, warnings and errors at once, so that none is lost when the process ends. */
export function createLog(options: LogOptions): Log {
  const file = options.write === undefined ? new LogFile(options.file) : undefined;
  const write = options.write ?? inTurns((text) => file?.write(text));
  const form: Form = { level: options.level, format: options.format };
  const root = pino(
    {
      // What is less than `form.level` does not come here.
      level: 'debug',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: pino.stdSerializers.err },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: REDACTED,
      },
    },
    {
      write: (line: string) => {
        const safe = line.replace(SECRET_VALUE, `$1_${REDACTED}`);
        write(form.format === 'text' ? textLine(safe) : safe, isUrgent(line));
      },
    },
  );
  const log = wrap(root, 'trawl', file, form);
  file?.onRecovery((fields) => log.warn('the log could not be written for a while', fields));
  return log;
}

function openForLines(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true });
  return openSync(file, 'a');
}

/** Guess: bytes that wait for room; a full disk is noticed sooner than that many are written. */
const UNWRITTEN_MAX = 1 << 20;

/** Guess: how often, and how long, a pipe that is full is waited for, as long as nothing else is wrong. */
const PIPE_TRIES_MAX = 100;
const PIPE_PAUSE_MS = 10;

/**
 * The file that lines go to. Where it cannot be written (a full disk, a terminal that is gone) lines wait, those beyond
 * UNWRITTEN_MAX are dropped and counted, and it is tried again with the next line.
 */
class LogFile {
  readonly #path: string | undefined;
  #handle: number;
  #unwritten: Buffer = Buffer.alloc(0);
  #trouble: string | undefined;
  #lostCount = 0;
  #tell: (fields: LogFields) => void = () => {};

  constructor(file: string | undefined) {
    this.#path = file;
    this.#handle = file === undefined ? 2 : openForLines(file);
  }

  /** Errors: those of opening; the old file stays in use. */
  reopen(): void {
    if (this.#path === undefined) return;
    const old = this.#handle;
    this.#handle = openForLines(this.#path);
    closeSync(old);
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** @param tell  called when all that waited is written, once each time */
  onRecovery(tell: (fields: LogFields) => void): void {
    this.#tell = tell;
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    const isLost = this.#unwritten.length + bytes.length > UNWRITTEN_MAX && !this.#tryWaiting();
    if (isLost) this.#lostCount += text.split('\n').length - 1;
    else if (this.#unwritten.length > 0) this.#unwritten = Buffer.concat([this.#unwritten, bytes]);
    else this.#unwritten = bytes;
    if (!isLost) this.#tryWaiting();
  }

  /** True: nothing waits any more. */
  #tryWaiting(): boolean {
    for (let tries = 0; this.#unwritten.length > 0;) {
      try {
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#handle, this.#unwritten));
      } catch (error) {
        const isFull = systemCodeOf(error) === 'EAGAIN' && this.#trouble === undefined;
        if (!isFull || ++tries > PIPE_TRIES_MAX) {
          this.#trouble = messageOf(error);
          return false;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_PAUSE_MS);
      }
    }
    if (this.#trouble === undefined) return true;
    const fields = { reason: this.#trouble, lostLines: this.#lostCount };
    this.#trouble = undefined;
    this.#lostCount = 0;
    this.#tell(fields);
    return true;
  }
}

/** Characters of waiting lines that are written without waiting any longer. */
const WAITING_MAX = 65_536;

/** How long a line waits for others at most; what a killed process loses of them. */
const WAIT_MS = 5;

/**
 * Gathers the lines of a moment into one write; a line above info is written at once, with those before it, and so
 * is whatever waits when the process ends.
 * Measured: 2026-11-21: with a write for each request, 64 clients get a tenth fewer answers a second.
 */
function inTurns(write: (text: string) => void): (line: string, isUrgent: boolean) => void {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  process.on('exit', flush);
  return (line, isUrgent) => {
    if (waiting === '' && !isUrgent) setTimeout(flush, WAIT_MS);
    waiting += line;
    if (isUrgent || waiting.length > WAITING_MAX) flush();
  };
}

/** Whether a line of JSON, which begins with its level, is above info. */
function isUrgent(line: string): boolean {
  return !/^\{"level":"(?:info|debug)"/.test(line);
}

/** How lines are written now. */
type Form = { -readonly [Name in 'level' | 'format']: LogOptions[Name] };

function wrap(root: pino.Logger, label: string, file: LogFile | undefined, form: Form): Log {
  const child = root.child({ label });
  const bare = root.child({ label }, { redact: [] });
  const isEnabled = (level: LogLevel): boolean => RANKS[level] >= RANKS[form.level];
  return {
    debug: (message, fields) => isEnabled('debug') && child.debug(fields ?? {}, message),
    info: (message, fields = {}) =>
      isEnabled('info') && (isBare(fields) ? bare : child).info(fields, message),
    warn: (message, fields) => isEnabled('warn') && child.warn(fields ?? {}, message),
    error: (message, fields) => child.error(fields ?? {}, message),
    isEnabled,
    labelled: (name) => wrap(root, name, file, form),
    obey: ({ level, format }) => {
      form.level = level;
      form.format = format;
    },
    reopen: () => {
      try {
        file?.reopen();
      } catch (error) {
        child.error({ error }, 'the log file cannot be opened again');
      }
    },
    get trouble() {
      return file?.trouble;
    },
  };
}

/**
 * Whether no member can be one whose value must not be shown.
 * Measured: 2026-11-22: looking for such members takes half of the time of the line that each request has.
 */
function isBare(fields: LogFields): boolean {
  for (const name in fields) {
    if (typeof fields[name] === 'object' || SECRET_FIELDS.includes(name)) return false;
  }
  return true;
}

/**
 * `{timestamp} {LEVEL} [{label}] {message} {name}={value} ...`; a stack follows on lines of its own, a text that says what went
 * wrong is a member.
 */
function textLine(line: string): string {
  const parsed: Record<string, unknown> = JSON.parse(line);
  const { level, message, label, timestamp, error, ...fields } = parsed;
  const head = `${text(timestamp)} ${text(level).toUpperCase().padEnd(5)} [${text(label)}]`;
  const members = Object.entries(fields).map(([name, value]) => ` ${name}=${text(value)}`);
  return `${head} ${oneLine(text(message))}${members.join('')}${errorText(error)}\n`;
}

function errorText(error: unknown): string {
  if (error === undefined || error === null) return '';
  const stack = typeof error === 'object' && 'stack' in error ? error.stack : undefined;
  // Why on the line: who looks for ERROR in a log reads the reason beside it.
  if (typeof stack !== 'string') return ` error=${text(error)}`;
  return stack
    .split('\n')
    .map((line) => `\n    ${withoutControls(line)}`)
    .join('');
}

function text(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value)) return value;
  return withoutControls(JSON.stringify(value));
}

/** Characters that a terminal obeys or hides become escapes: names of files may hold any. */
function withoutControls(shown: string): string {
  return shown.replace(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** Undoes the quotes of `text` for the message, keeping control characters escaped. */
function oneLine(quoted: string): string {
  return quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll(String.raw`\"`, '"') : quoted;
}
