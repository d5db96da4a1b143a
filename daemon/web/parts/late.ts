// What is shown only where something takes longer than one notices.

import { useEffect, useState } from 'react';

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
