// Log lines as text or JSON: level, message, label, timestamp, requestId and further fields. Built on pino; this file adds
// the text format, removes secrets, and writes the file itself, so that a full disk does not stop the daemon. Queries are
// logged at debug, and if they are slow and an owner asked for that.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { messageOf, systemCodeOf } from './caught.ts';
import type { LogFormat, LogLevel } from './log-levels.ts';

const RANKS = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;

/** Fields of a line; `requestId` ties it to a request, `progress` has the counts of a job. */
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
  /** Whether lines of this level are written. For fields that are expensive to compute. */
  isEnabled(level: LogLevel): boolean;
  /** The same log with the label of a part of the daemon. */
  labelled(label: string): Log;
  /**
   * Continues in a new file of the same name, after the old one was moved away. Errors: none: on failure it continues in
   * the old one.
   */
  reopen(): void;
  /** Applies level and format to this log and all that share its root. */
  apply(form: Pick<LogOptions, 'level' | 'format'>): void;
  /** Why lines cannot be written now; undefined: they can. */
  readonly lastError: string | undefined;
}

/** What writes lines. */
export type LogLines = Pick<Log, LogLevel>;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absolute path, appended to; undefined: standard error. */
  readonly file?: string | undefined;
  /** Receives whole lines with newline instead of a file; for tests. */
  readonly write?: (line: string) => void;
}

/** Fields whose values are never written, wherever they occur. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'apiKey', 'token'];
const REDACTED = '[redacted]';
const SECRET_VALUE = /\b(svk|svst|svoa|svor)_[0-9a-f]{64}/g;

/**
 * Creates a log. Lines are written in order, warnings and errors immediately, so that none is lost when the process exits.
 */
export function createLog(options: LogOptions): Log {
  const file = options.write === undefined ? new LogFile(options.file) : undefined;
  const write = options.write ?? batchedWriter((text) => file?.write(text));
  const form: Form = { level: options.level, format: options.format };
  const writeSafe: Writer = (line, isUrgent) =>
    write(line.replace(SECRET_VALUE, `$1_${REDACTED}`), isUrgent);
  const root = pino(
    {
      // Lines below `form.level` never get here.
      level: 'debug',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${timestampNow()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: pino.stdSerializers.err },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: REDACTED,
      },
    },
    {
      write: (line: string) =>
        writeSafe(form.format === 'text' ? textLine(line) : line, isUrgent(line)),
    },
  );
  const log = wrap(root, 'trawl', file, form, writeSafe);
  file?.onRecovery((fields) => log.warn('the log could not be written for a while', fields));
  return log;
}

function openForLines(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true });
  return openSync(file, 'a', 0o640);
}

/** Bytes of buffered lines. Bound: memory while the disk is full. */
const UNWRITTEN_MAX = 1 << 20;

/** Waits of 10 ms for a full pipe. Bound: one line stops the thread for a second at most. */
const PIPE_TRIES_MAX = 100;

/**
 * The file that lines are written to. If writing fails (a full disk, a closed terminal), lines are buffered and written
 * with the next line; lines beyond UNWRITTEN_MAX are dropped and counted.
 */
class LogFile {
  readonly #path: string | undefined;
  #handle: number;
  #unwritten: Buffer = Buffer.alloc(0);
  #lastError: string | undefined;
  #lostCount = 0;
  #report: (fields: LogFields) => void = () => {};

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

  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** @param report  called each time when all buffered lines are written */
  onRecovery(report: (fields: LogFields) => void): void {
    this.#report = report;
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    const isLost = this.#unwritten.length + bytes.length > UNWRITTEN_MAX && !this.#tryWaiting();
    if (isLost) this.#lostCount += text.split('\n').length - 1;
    else if (this.#unwritten.length > 0) this.#unwritten = Buffer.concat([this.#unwritten, bytes]);
    else this.#unwritten = bytes;
    if (!isLost) this.#tryWaiting();
  }

  /** True: nothing is buffered. */
  #tryWaiting(): boolean {
    for (let tries = 0; this.#unwritten.length > 0;) {
      try {
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#handle, this.#unwritten));
      } catch (error) {
        const isFull = systemCodeOf(error) === 'EAGAIN' && this.#lastError === undefined;
        if (!isFull || ++tries > PIPE_TRIES_MAX) {
          this.#lastError = messageOf(error);
          return false;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
    if (this.#lastError === undefined) return true;
    const fields = { reason: this.#lastError, lostLines: this.#lostCount };
    this.#lastError = undefined;
    this.#lostCount = 0;
    this.#report(fields);
    return true;
  }
}

/** Buffered characters that are written without further delay. */
const WAITING_MAX = 65_536;

/** Longest delay of a line; a killed process loses as much. */
const WAIT_MS = 20;

/**
 * Batches lines into one write. A line above info is written immediately with those before it; buffered lines are written
 * when the process exits.
 * Measured: 2026-11-21: with a write for each request, 64 clients get a tenth fewer answers a second.
 */
function batchedWriter(write: (text: string) => void): Writer {
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

/** Whether a JSON line, which begins with its level, is above info. */
function isUrgent(line: string): boolean {
  return !/^\{"level":"(?:info|debug)"/.test(line);
}

type Writer = (line: string, isUrgent: boolean) => void;
type Form = { -readonly [Name in 'level' | 'format']: LogOptions[Name] };

function wrap(
  root: pino.Logger,
  label: string,
  file: LogFile | undefined,
  form: Form,
  write: Writer,
): Log {
  const child = root.child({ label });
  const bare = root.child({ label }, { redact: [] });
  const isEnabled = (level: LogLevel): boolean => RANKS[level] >= RANKS[form.level];
  return {
    debug: (message, fields) => isEnabled('debug') && child.debug(fields ?? {}, message),
    info: (message, fields = {}) => {
      if (!isEnabled('info')) return;
      if (!isBare(fields)) child.info(fields, message);
      else if (form.format === 'json') bare.info(fields, message);
      else write(bareLine(label, message, fields), false);
    },
    warn: (message, fields) => isEnabled('warn') && child.warn(fields ?? {}, message),
    error: (message, fields) => child.error(fields ?? {}, message),
    isEnabled,
    labelled: (name) => wrap(root, name, file, form, write),
    apply: ({ level, format }) => {
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
    get lastError() {
      return file?.lastError;
    },
  };
}

/**
 * Whether no field can be a secret one. Why apart: the line of a request is written without a search for such fields, which
 * takes half of its time, and as text without pino's JSON in between, which takes two thirds of the rest.
 */
function isBare(fields: LogFields): boolean {
  for (const name in fields) {
    if (typeof fields[name] === 'object' || SECRET_FIELDS.includes(name)) return false;
  }
  return true;
}

/**
 * `{timestamp} {LEVEL} [{label}] {message} {name}={value} ...`; a stack follows on lines of its own, a reason is a field.
 */
function textLine(line: string): string {
  const parsed: Record<string, unknown> = JSON.parse(line);
  const { level, message, label, timestamp, error, ...fields } = parsed;
  const head = headOf(text(timestamp), text(level), text(label), text(message));
  return `${head}${membersOf(fields)}${errorText(error)}\n`;
}

/** As textLine, of a line of level info whose fields are bare. */
function bareLine(label: string, message: string, fields: LogFields): string {
  const head = headOf(timestampNow(), 'info', text(label), text(message));
  return `${head}${membersOf(fields)}\n`;
}

function headOf(timestamp: string, level: string, label: string, message: string): string {
  return `${timestamp} ${level.toUpperCase().padEnd(5)} [${label}] ${oneLine(message)}`;
}

function membersOf(fields: LogFields): string {
  let members = '';
  for (const name in fields)
    if (fields[name] !== undefined) members += ` ${name}=${text(fields[name])}`;
  return members;
}

/** Of the present second, up to its milliseconds. */
let secondText = '';
let second = NaN;

/** As toISOString, which took 9 us of each request: most requests share a second. */
function timestampNow(): string {
  const ms = Date.now();
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    second = now;
    secondText = new Date(now * 1000).toISOString().slice(0, -4);
  }
  return `${secondText}${String(ms - now * 1000).padStart(3, '0')}Z`;
}

function errorText(error: unknown): string {
  if (error === undefined || error === null) return '';
  const stack = typeof error === 'object' && 'stack' in error ? error.stack : undefined;
  // Why on the line: a search for ERROR in a log then finds the reason too.
  if (typeof stack !== 'string') return ` error=${text(error)}`;
  return stack
    .split('\n')
    .map((line) => `\n    ${withoutControls(line)}`)
    .join('');
}

function text(value: unknown): string {
  if (Number.isFinite(value)) return String(value);
  if (typeof value === 'string' && /^[!#-<>-~]+$/.test(value)) return value;
  if (typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value)) return value;
  return withoutControls(JSON.stringify(value));
}

/** Escapes control and invisible characters, as file names may contain any. */
function withoutControls(quoted: string): string {
  return quoted.replace(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** Removes the quotes of `text` for the message; control characters stay escaped. */
function oneLine(quoted: string): string {
  return quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll(String.raw`\"`, '"') : quoted;
}
