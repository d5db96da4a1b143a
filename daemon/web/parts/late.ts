// What is shown later: where something takes longer than one notices, or behind what matters more.

import { startTransition, useEffect, useState } from 'react';

/** ms until a wait is shown. */
const LATE_MS = 300;

/** Has it been so for a moment? */
export function useIsLate(isSo: boolean): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isSo]);
  return isLate;
}

/** The value before, until what is drawn with this one has been painted. @param before  at first */
export function usePainted<Value>(value: Value, before: Value): Value {
  const [painted, setPainted] = useState(before);
  useEffect(() => {
    // Behind the frame that is made next.
    const behind = (): void => startTransition(() => setPainted(value));
    let frame = requestAnimationFrame(() => (frame = requestAnimationFrame(behind)));
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return painted;
}
