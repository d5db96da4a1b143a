// What can be said of a caught value, which may be anything: its message, its system code, itself as an
// Error. Used wherever a failure is logged, reported or passed on.

/** An error with its code of the API (api/shapes/api-error.ts); the message is for the caller. */
export class CodedError<Code extends string> extends Error {
  readonly errorCode: Code;

  constructor(errorCode: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorCode = errorCode;
  }
}

/** What to do where there is no room. */
export const ROOM_REMEDY =
  'free space there, or move the data directory to a larger disk and name it with --data-dir: it is used as it is';

/** Message of an error, with what to do where it is that of a full disk; any other value as text. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  return isDiskFull(error) && !message.includes(ROOM_REMEDY)
    ? `${message}; ${ROOM_REMEDY}`
    : message;
}

const FULL = ['ENOSPC', 'EDQUOT'];

/** Whether there is no room for what is to be written. */
export function isDiskFull(error: unknown): boolean {
  // Of watches, of which there are too many, the system says so too.
  const isWatch = error instanceof Error && 'syscall' in error && error.syscall === 'watch';
  return FULL.includes(systemCodeOf(error) ?? '') && !isWatch;
}

/** Code of a system error (`ENOENT`); undefined for any other value. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The value; an error of the system that does not say of which file it is, as that of a full disk, says so from now on. */
export function named(error: unknown, file: string): unknown {
  if (systemCodeOf(error) === undefined || !(error instanceof Error) || 'path' in error)
    return error;
  return Object.assign(error, { message: `${error.message} '${file}'`, path: file });
}

const SHORTAGES = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EINTR'];
const REFUSALS = ['EACCES', 'EPERM'];

/** Whether the machine had no more files, processes or memory: in a moment it may have. */
export function isShortage(error: unknown): boolean {
  if (error instanceof RangeError) return /allocat|memory/i.test(error.message);
  return SHORTAGES.includes(systemCodeOf(error) ?? '');
}

/** Whether the machine had not what it takes, or no right to read: that tells nothing of what was to be read. */
export function isMachineFault(error: unknown): boolean {
  return isShortage(error) || REFUSALS.includes(systemCodeOf(error) ?? '');
}

/** The value itself if it is an Error, else one around it. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error });
}
