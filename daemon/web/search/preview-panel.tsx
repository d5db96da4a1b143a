// A preview of a result's file beside the list: its code, and steps through its matches. If the file changed since it
// was searched, it appears without matches.

import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { isBinary } from '../code/binary.ts';
import { type CodeHandle, CodeView, COLOURED_SIZE_MAX } from '../code/code-view.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { ICON } from '../parts/icon.ts';
import { Notice } from '../parts/notice.tsx';
import { notSearched } from '../parts/skip-reasons.ts';
import { Name } from '../parts/visible-text.tsx';
import { CHANGED, sourceOf } from './file-source.ts';
import { isSameFile, linesOfText } from './card-rows.ts';
import { matchesIn } from './preview-matches.ts';
import { addressOf } from './result-address.ts';
import type { ResultFile } from './rows.ts';

interface PreviewPanelProps {
  readonly file: ResultFile;
  /** The line to start at; 0 or undefined: the first match. */
  readonly line: number | undefined;
  readonly close: () => void;
}

interface StepsProps {
  /** Index of the current line among `count` matched lines. */
  readonly at: number;
  readonly count: number;
  readonly go: (at: number) => void;
}

/** Buttons for the previous and next matched line. */
function Steps({ at, count, go }: StepsProps) {
  return (
    <span className="preview-steps">
      <button
        type="button"
        className="icon-button"
        aria-label="Previous match"
        disabled={at === 0}
        onClick={() => go(at - 1)}
      >
        <ChevronUp {...ICON} />
      </button>
      <span>
        {at + 1} of {count}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label="Next match"
        disabled={at === count - 1}
        onClick={() => go(at + 1)}
      >
        <ChevronDown {...ICON} />
      </button>
    </span>
  );
}

interface PreviewTextProps {
  readonly file: ResultFile;
  readonly source: string;
  readonly language: string;
  /** The current line. */
  readonly current: number | undefined;
  /** Is it the text that was searched? */
  readonly isSame: boolean;
}

function PreviewText({ file, source, language, current, isSame }: PreviewTextProps) {
  const handle = useRef<CodeHandle>(null);
  const matches = useMemo(
    () => (isSame ? matchesIn(file, source.split('\n')) : []),
    [file, source, isSame],
  );
  const first = matches.findIndex(({ start }) => start.lineNumber === current);
  return (
    <CodeView
      path={file.path}
      text={source}
      language={language}
      isColoured={source.length <= COLOURED_SIZE_MAX}
      range={current === undefined ? undefined : { from: current, to: current }}
      blame={undefined}
      matches={matches}
      currentMatch={first < 0 ? undefined : first}
      onRange={() => undefined}
      onSelect={() => undefined}
      showCard={() => () => undefined}
      goToName={() => undefined}
      handle={handle}
    />
  );
}

export default function PreviewPanel({ file, line, close }: PreviewPanelProps) {
  const { data, error } = useQuery(sourceOf(file.repository, file.revisions[0], file.path));
  const matched = file.lines.filter(({ marks }) => marks.length > 0).map(({ number }) => number);
  const [at, setAt] = useState(Math.max(0, matched.indexOf(line ?? 0)));
  const source = data?.source;
  const isSame = useMemo(
    () => source === undefined || isSameFile(file.lines, linesOfText(source)),
    [file, source],
  );
  const current = isSame ? matched[at] : undefined;
  return (
    <>
      <header className="preview-head">
        <Link
          href={addressOf(file, current === undefined ? undefined : { number: current })}
          className="preview-path"
          title={visibleName(file.path)}
        >
          <Name>{file.path}</Name>
        </Link>
        {matched.length > 0 && isSame && <Steps at={at} count={matched.length} go={setAt} />}
        <IconButton label="Close preview" hint="v" icon={X} run={close} />
      </header>
      {error !== null && <Notice kind="danger" title={error.message} />}
      {file.skipReason !== undefined && <Notice kind="info" title={notSearched(file.skipReason)} />}
      {!isSame && <Notice kind="warn" title={CHANGED} />}
      {data !== undefined && !isBinary(data.source) && (
        <PreviewText
          file={file}
          source={data.source}
          language={data.language}
          current={current}
          isSame={isSame}
        />
      )}
    </>
  );
}
