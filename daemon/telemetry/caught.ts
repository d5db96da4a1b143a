// What can be said of a caught value, which may be anything: its message, its system code, itself as an
// Error. Used wherever a failure is logged, reported or passed on.

/** Message of an error; any other value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Code of a system error (`ENOENT`); undefined for any other value. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The value itself if it is an Error, else one around it. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error });
}
