// A short message that confirms what was done, and goes by itself.

import { useEffect, useState } from 'react';

const SHOWN_MS = 4000;

/** What was said last, '' when it is gone; and the way to say something. */
export function useSaid(): readonly [string, (text: string) => void] {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => say(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return [said, say];
}
