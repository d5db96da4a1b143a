// The content of a file: its text, the picture, or the rendered document.

import { lazy, type RefObject, Suspense, useState } from 'react';
import type { BlameHunk } from '../code/blame-gutter.ts';
import { type CodeHandle, CodeView, COLOURED_SIZE_MAX } from '../code/code-view.tsx';
import { type LineRange, rangeText } from '../code/line-range.ts';
import { BASE_PATH } from '../data/base-path.ts';
import { Notice } from '../parts/notice.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { BinaryView } from './binary-view.tsx';
import { isDrawing } from './file-kind.ts';
import { FileNotices, type FileNoticesProps } from './file-notices.tsx';
import { useFileParameters } from './file-parameters.ts';
import type { FileWays } from './file-actions.ts';
import type { Blame } from './history-queries.ts';
import { MatchRuler } from './match-ruler.tsx';
import { useInnerLinks } from './inner-links.ts';
import type { MatchSteps } from './match-steps.ts';
import { cardsOf } from './name-card.tsx';
import { Outline, type OutlineState } from './outline.tsx';

const MarkdownView = lazy(() => import('./markdown-view.tsx'));

/** Entries of the blame column. Each links to its commit and to the file before that commit. */
function hunksOf({ ranges, commits }: Blame, target: BrowseTarget): BlameHunk[] {
  return ranges.map(({ hash, startLine }) => {
    const { authorName = '', date = '', message = '', previous } = commits[hash] ?? {};
    const before = previous && { ...target, revision: previous.hash, path: previous.path };
    return {
      startLine,
      author: authorName,
      date,
      message,
      address: `${BASE_PATH}${addressOf({ ...target, kind: 'commit', path: hash })}`,
      before: before && `${BASE_PATH}${addressOf(before)}?blame=1`,
    };
  });
}

interface FileTextProps extends FileNoticesProps {
  readonly target: BrowseTarget;
  readonly language: string;
  /** Undefined: not shown. */
  readonly blame: Blame | undefined;
  readonly outline: OutlineState;
  readonly steps: MatchSteps;
  readonly ways: FileWays;
  readonly code: RefObject<CodeHandle | null>;
  readonly onSelect: (range: LineRange | undefined) => void;
}

function FileText({
  target,
  blame,
  outline,
  steps,
  ways,
  language,
  code,
  onSelect,
  ...facts
}: FileTextProps) {
  const { text, lineCount, range } = facts;
  const { change } = useFileParameters();
  const [isColourForced, setColourForced] = useState(false);
  const isLarge = text.length > COLOURED_SIZE_MAX;
  const follow = useInnerLinks();
  return (
    <>
      <FileNotices {...facts} />
      {isLarge && !isColourForced && (
        <Notice
          kind="info"
          title="Syntax colours are off because the file is large."
          action={{ label: 'Colour anyway', run: () => setColourForced(true) }}
        />
      )}
      <div className="code-area" onClick={follow}>
        <CodeView
          path={target.path}
          text={text}
          language={language}
          isColoured={!isLarge || isColourForced}
          range={range}
          blame={blame === undefined ? undefined : hunksOf(blame, target)}
          matches={steps.matches}
          currentMatch={steps.current}
          onRange={(chosen) => change({ highlightRange: rangeText(chosen) })}
          onSelect={onSelect}
          showCard={cardsOf(target, language, ways)}
          goToName={ways.goToDefinition}
          handle={code}
        />
        <MatchRuler matches={steps.matches} lineCount={lineCount} />
        {outline.isVisible && <Outline target={target} leave={outline.leave} />}
      </div>
    </>
  );
}

interface FileBodyProps extends Omit<FileTextProps, 'lineCount'> {
  /** Undefined: the file has no text. */
  readonly lineCount: number | undefined;
  readonly isPreviewed: boolean;
}

export function FileBody({ lineCount, isPreviewed, ...rest }: FileBodyProps) {
  const { target, text } = rest;
  if (lineCount === undefined || (isPreviewed && isDrawing(target.path)))
    return <BinaryView target={target} entry={rest.entry} />;
  if (!isPreviewed) return <FileText {...rest} lineCount={lineCount} />;
  return (
    <Suspense fallback={null}>
      <MarkdownView target={target} text={text} />
    </Suspense>
  );
}
