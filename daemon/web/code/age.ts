// A compact age, such as "3 y". Pure.

import { DAY_MS } from '../parts/number-format.ts';

const UNITS: readonly (readonly [unit: string, days: number])[] = [
  ['y', 365.25],
  ['mo', 30.44],
  ['d', 1],
];

/** The age as "3 y", "5 mo" or "12 d". */
export function ageOf(date: string, nowMs: number): string {
  const days = (nowMs - Date.parse(date)) / DAY_MS;
  const [unit, length] = UNITS.find(([, length]) => days >= length) ?? ['', 1];
  return unit === '' ? 'today' : `${Math.floor(days / length)} ${unit}`;
}
