// The title of the window.

import { useEffect } from 'react';

/** @param title  without the name of the product */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Trawl' : `${title} · Trawl`;
  }, [title]);
}
