// Is there room for panels beside the content? The same border is in the styles.

import { useSyncExternalStore } from 'react';

const NARROW = matchMedia('(max-width: 1099px)');

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener('change', listener);
  return () => NARROW.removeEventListener('change', listener);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches);
}
