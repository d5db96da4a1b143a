// Keeps links inside the page that the router does not render, such as those of a document.

import type { MouseEvent } from 'react';
import { useLocation } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';

/** Follows plain clicks on links to browse pages; all other clicks are left to the browser. */
export function useInnerLinks(): (event: MouseEvent) => void {
  const [, navigate] = useLocation();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const address = link?.getAttribute('href') ?? '';
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!isPlain || !address.startsWith(`${BASE_PATH}/browse/`)) return;
    event.preventDefault();
    navigate(address.slice(BASE_PATH.length));
  };
}
