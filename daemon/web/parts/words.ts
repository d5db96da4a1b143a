// Numbers and times as people read them.

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
