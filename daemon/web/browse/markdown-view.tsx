// Markdown as a document.

import { useEffect, useRef } from 'react';
import { visibleName } from '../parts/hidden-characters.ts';
import type { BrowseTarget } from './address.ts';
import { useInnerLinks } from './inner-links.ts';
import { renderMarkdown } from './markdown.ts';

interface MarkdownViewProps {
  readonly target: BrowseTarget;
  readonly text: string;
  /** Does it stand below something else, which scrolls as one with it? */
  readonly isPart?: boolean;
}

/** The browser went there when nothing was there yet. */
function scrollToName(hash: string): void {
  try {
    document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  } catch {
    // It is no encoded text, and so no name.
  }
}

export default function MarkdownView({ target, text, isPart = false }: MarkdownViewProps) {
  const container = useRef<HTMLDivElement>(null);
  const { repo, revision, path } = target;
  useEffect(() => {
    container.current?.replaceChildren(renderMarkdown(text, target));
    scrollToName(location.hash);
    // `place` is made anew each time; its parts say whether it is another one.
  }, [text, repo, revision, path]);
  const follow = useInnerLinks();
  return (
    <div
      className={isPart ? 'markdown markdown-part' : 'markdown'}
      tabIndex={isPart ? undefined : 0}
      role="region"
      aria-label={visibleName(path)}
      onClick={follow}
    >
      <div ref={container} className="markdown-text" />
    </div>
  );
}
