// Links in parts that are not drawn by the router, such as a document: they lead on within the page all the same.

import type { MouseEvent } from 'react';
import { useLocation } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';

/** Follows a plain click on a link to something that is browsed; every other click is the browser's. */
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
