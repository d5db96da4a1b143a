// A rendered Markdown document.

import { useEffect, useRef } from 'react';
import { visibleName } from '../parts/hidden-characters.ts';
import type { BrowseTarget } from './address.ts';
import { useInnerLinks } from './inner-links.ts';
import { renderMarkdown } from './markdown.ts';

interface MarkdownViewProps {
  readonly target: BrowseTarget;
  readonly text: string;
  /** Is the document part of a page that scrolls as a whole? */
  readonly isPart?: boolean;
}

/** Why: the browser looked for the anchor before the document was rendered. */
function scrollToName(hash: string): void {
  try {
    document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  } catch {
    // A hash that does not decode names no heading.
  }
}

export default function MarkdownView({ target, text, isPart = false }: MarkdownViewProps) {
  const container = useRef<HTMLDivElement>(null);
  const { repo, revision, path } = target;
  useEffect(() => {
    container.current?.replaceChildren(renderMarkdown(text, target));
    scrollToName(location.hash);
    // `target` is a new object in each render; its parts identify it.
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
