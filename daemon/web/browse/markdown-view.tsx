// Markdown as a document.

import { useEffect, useRef } from 'react';
import type { MouseEvent } from 'react';
import { useLocation } from 'wouter';
import { BASE_PATH } from '../data/place.ts';
import type { Place } from './address.ts';
import { renderMarkdown } from './markdown.ts';

interface MarkdownViewProps {
  readonly place: Place;
  readonly text: string;
}

export default function MarkdownView({ place, text }: MarkdownViewProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [, navigate] = useLocation();
  const { repo, revision, path } = place;
  useEffect(() => {
    holder.current?.replaceChildren(renderMarkdown(text, place));
    // `place` is made anew each time; its parts say whether it is another one.
  }, [text, repo, revision, path]);
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const address = link?.getAttribute('href') ?? '';
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!isPlain || !address.startsWith(`${BASE_PATH}/browse/`)) return;
    event.preventDefault();
    navigate(address.slice(BASE_PATH.length));
  };
  return (
    <div className="markdown" tabIndex={0} role="region" aria-label={path} onClick={follow}>
      <div ref={holder} className="markdown-text" />
    </div>
  );
}
