// Reads message, system code and kind from a caught value, which may be anything. Used to log, report and rethrow failures.

/** An API error: code (api/shapes/api-error.ts) and a message for the caller. */
export class CodedError<Code extends string> extends Error {
  readonly errorCode: Code;

  constructor(errorCode: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorCode = errorCode;
  }
}

export const DISK_FULL_REMEDY =
  'free space there, or move the data directory to a larger disk and pass its path with --data-dir';

/** The error's message, with a remedy if the disk is full; any other value as text. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  // A host with several addresses has one error each, and no message.
  if (message === '' && error instanceof AggregateError)
    return error.errors.map(messageOf).join('; ');
  return isDiskFull(error) && !message.includes(DISK_FULL_REMEDY)
    ? `${message}; ${DISK_FULL_REMEDY}`
    : message;
}

const FULL = ['ENOSPC', 'EDQUOT'];

export function isDiskFull(error: unknown): boolean {
  // ENOSPC of a watch means too many watches.
  const isWatch = error instanceof Error && 'syscall' in error && error.syscall === 'watch';
  return FULL.includes(systemCodeOf(error) ?? '') && !isWatch;
}

/** Code of a system error (`ENOENT`); undefined for any other value. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Returns the error; adds the file's name to a system error that lacks it, such as that of a full disk. */
export function atPath(error: unknown, file: string): unknown {
  if (systemCodeOf(error) === undefined || !(error instanceof Error) || 'path' in error)
    return error;
  return Object.assign(error, { message: `${error.message} '${file}'`, path: file });
}

const REFUSALS = ['EACCES', 'EPERM'];

/** Returns the error; with the remedy, if the system denies access to a data directory. */
export function inDataDir(error: unknown, dataDir: string): unknown {
  if (!REFUSALS.includes(systemCodeOf(error) ?? '')) return error;
  return new Error(
    `${dataDir} is not open to this user (${messageOf(error)}); run this as its owner, or name another data directory with --data-dir`,
    { cause: error },
  );
}

const SHORTAGES = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EINTR'];

/** Whether the machine lacked files, processes or memory; a retry may succeed. */
export function isShortage(error: unknown): boolean {
  if (error instanceof RangeError) return /allocat|memory/i.test(error.message);
  return SHORTAGES.includes(systemCodeOf(error) ?? '');
}

/** Whether the cause is the machine or missing read access. It says nothing about the file's content. */
export function isMachineFault(error: unknown): boolean {
  return isShortage(error) || REFUSALS.includes(systemCodeOf(error) ?? '');
}

/** The value itself if it is an Error, else an Error that wraps it. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error });
}
