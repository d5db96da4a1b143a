// The title of the window.

import { useEffect } from 'react';
import { visibleName } from './hidden-characters.ts';

/** @param title  without the product name */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Trawl' : `${visibleName(title)} · Trawl`;
  }, [title]);
}
