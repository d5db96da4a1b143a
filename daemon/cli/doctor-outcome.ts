// What a check of `trawl doctor` finds: a sentence, and what to do about it.

export type Level = 'ok' | 'warning' | 'failure';

export interface Outcome {
  readonly level: Level;
  readonly says: string;
  /** Null: nothing to do. */
  readonly remedy: string | null;
}

export function fine(says: string): Outcome {
  return { level: 'ok', says, remedy: null };
}

/** @param remedy  default: what `says` has after its first semicolon, as our messages do */
export function warning(says: string, remedy?: string): Outcome {
  return { level: 'warning', ...parted(says, remedy) };
}

/** A daemon does not start, does not work, or loses data. @param remedy  as of `warning` */
export function problem(says: string, remedy?: string): Outcome {
  return { level: 'failure', ...parted(says, remedy) };
}

function parted(text: string, remedy: string | undefined): Pick<Outcome, 'says' | 'remedy'> {
  if (remedy !== undefined) return { says: text, remedy };
  const at = text.indexOf('; ');
  if (at === -1) return { says: text, remedy: 'see daemon/OPERATIONS.md' };
  return { says: text.slice(0, at), remedy: text.slice(at + 2) };
}
