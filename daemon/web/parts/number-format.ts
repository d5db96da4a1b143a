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

/** "20 s", "4 min", "2 h": a remaining time. */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
