// Log lines, as text or JSON: level, message, label, timestamp, requestId and further fields. Built on
// pino; what this file adds is the text form and the removal of secrets. Callers decide what to say, and
// log queries at debug only.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

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
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
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
  const write = options.write ?? openFile(options.file);
  const form = options.format === 'text' ? textLine : (line: string) => line;
  const root = pino(
    {
      level: options.level,
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
      write: (line: string) =>
        write(form(line.replace(SECRET_VALUE, `$1_${REDACTED}`)), isUrgent(line)),
    },
  );
  return wrap(root, 'trawl');
}

function openFile(file: string | undefined): (line: string, isUrgent: boolean) => void {
  if (file !== undefined) mkdirSync(path.dirname(file), { recursive: true });
  const destination = pino.destination({ dest: file ?? 2, append: true, sync: true });
  return inTurns((text) => void destination.write(text));
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

function wrap(root: pino.Logger, label: string): Log {
  const child = root.child({ label });
  const bare = root.child({ label }, { redact: [] });
  return {
    debug: (message, fields) => child.debug(fields ?? {}, message),
    info: (message, fields = {}) => (isBare(fields) ? bare : child).info(fields, message),
    warn: (message, fields) => child.warn(fields ?? {}, message),
    error: (message, fields) => child.error(fields ?? {}, message),
    isEnabled: (level) => child.isLevelEnabled(level),
    labelled: (name) => wrap(root, name),
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

/** `{timestamp} {LEVEL} [{label}] {message} {name}={value} ...`; a stack follows on lines of its own. */
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
  const shown = typeof stack === 'string' ? stack : text(error);
  return `\n    ${shown.replaceAll('\n', '\n    ')}`;
}

function text(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

/** Undoes the quotes of `text` for the message, keeping control characters escaped. */
function oneLine(quoted: string): string {
  return quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll(String.raw`\"`, '"') : quoted;
}
