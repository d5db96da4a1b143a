// Delayed display: for waits that are long enough to notice, and for what may be drawn after something more important.

import { startTransition, useEffect, useState } from 'react';

/** ms until a wait is displayed. */
const LATE_MS = 300;

/** Has `isSo` been true for a moment? */
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

/** The previous value, until the new value has been painted elsewhere. @param before  first value */
export function usePainted<Value>(value: Value, before: Value): Value {
  const [painted, setPainted] = useState(before);
  useEffect(() => {
    // Runs after the next frame.
    const behind = (): void => startTransition(() => setPainted(value));
    let frame = requestAnimationFrame(() => (frame = requestAnimationFrame(behind)));
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return painted;
}
