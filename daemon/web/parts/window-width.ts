// Is the window wide enough for panels beside the content, or must they cover it? The styles use the same limits.

import { useSyncExternalStore } from 'react';

function hookFor(width: string): () => boolean {
  const window = matchMedia(width);
  const subscribe = (listener: () => void): (() => void) => {
    window.addEventListener('change', listener);
    return () => window.removeEventListener('change', listener);
  };
  return () => useSyncExternalStore(subscribe, () => window.matches);
}

export const useIsNarrow = hookFor('(max-width: 1099px)');
export const useIsPhone = hookFor('(max-width: 767px)');
