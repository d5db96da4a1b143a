// Numbers and times in readable form.

export const DAY_MS = 86_400_000;

const NUMBER = new Intl.NumberFormat('en');

export function count(value: number): string {
  return NUMBER.format(value);
}

/** "1 match", "1,204 matches". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function milliseconds(value: number): string {
  return value < 1000 ? `${Math.max(1, Math.round(value))} ms` : `${(value / 1000).toFixed(1)} s`;
}

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** "312 bytes", "4.9 MB", "80 MB". */
export function size(bytes: number): string {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${SIZES[step]}`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const RELATIVE = new Intl.RelativeTimeFormat('en');

/** "4 minutes ago", "1 day ago", "in 3 months": whole units of elapsed time, so never "yesterday". */
export function relativeTime(date: Date, now = Date.now()): string {
  const seconds = (date.getTime() - now) / 1000;
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  return 'just now';
}

/** "20 s", "4 min", "2 h": a remaining time. */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Local time of day of an API timestamp: "14:05:09". */
export function clockTime(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/**
 * The start of a UTC day as an API timestamp. What is not a day is returned as it is, and the API refuses it.
 *
 * @param days  offset in days
 */
export function startOfDay(day: string | undefined, days = 0): string | undefined {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isNaN(ms) ? day : new Date(ms + days * DAY_MS).toISOString();
}
