// A log that is loaded with its first line: few searches write one, and pino takes 5 ms of their start.

import { messageOf } from '../base/caught.ts';
import type { Log, LogFields, LogLines, LogOptions } from '../base/log.ts';
import type { LogLevel } from '../base/log-levels.ts';

/** Errors: none; a file that cannot be written is said on standard error. */
export function lateLog(options: LogOptions): LogLines {
  let log: Promise<Log> | undefined;
  const lineOf = (level: LogLevel) => (message: string, fields?: LogFields) => {
    log ??= import('../base/log.ts').then(({ createLog }) => createLog(options));
    log.then(
      (loaded) => loaded[level](message, fields),
      (error: unknown) => process.stderr.write(`the log cannot be written: ${messageOf(error)}\n`),
    );
  };
  return {
    debug: lineOf('debug'),
    info: lineOf('info'),
    warn: lineOf('warn'),
    error: lineOf('error'),
  };
}
