// How long ago something was, in few characters. Pure.

const UNITS: readonly (readonly [unit: string, days: number])[] = [
  ['y', 365.25],
  ['mo', 30.44],
  ['d', 1],
];
const DAY_MS = 86_400_000;

/** "3 y", "5 mo", "12 d": how long ago, in little room. */
export function ageOf(date: string, nowMs: number): string {
  const days = (nowMs - Date.parse(date)) / DAY_MS;
  const [unit, length] = UNITS.find(([, length]) => days >= length) ?? ['', 1];
  return unit === '' ? 'today' : `${Math.floor(days / length)} ${unit}`;
}
