// A look into a file of the results, beside them: its code, and the way from match to match.

import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { COLOURED_SIZE_MAX, CodeView } from '../code/code-view.tsx';
import type { CodeHandle } from '../code/code-view.tsx';
import { Notice } from '../parts/notice.tsx';
import { sourceOf } from './file-source.ts';
import { matchesIn } from './preview-matches.ts';
import { addressOf } from './result-address.ts';
import type { ResultFile } from './rows.ts';

interface PreviewPanelProps {
  readonly file: ResultFile;
  /** Where to begin; 0 or undefined: at the first match. */
  readonly line: number | undefined;
  readonly close: () => void;
}

const ICON = { size: 16, strokeWidth: 1.5, 'aria-hidden': true } as const;

export default function PreviewPanel({ file, line, close }: PreviewPanelProps) {
  const { data, error } = useQuery(sourceOf(file.repository, file.revisions[0], file.path));
  const matched = file.lines.filter(({ marks }) => marks.length > 0).map(({ number }) => number);
  const handle = useRef<CodeHandle>(null);
  const [at, setAt] = useState(Math.max(0, matched.indexOf(line ?? 0)));
  const current = matched[at];
  const source = data?.source;
  const matches = useMemo(
    () => (source === undefined ? [] : matchesIn(file, source.split('\n'))),
    [file, source],
  );
  const first = matches.findIndex(({ start }) => start.lineNumber === current);
  return (
    <>
      <header className="preview-head">
        <Link
          href={addressOf(file, current === undefined ? undefined : { number: current })}
          className="preview-path"
          title={file.path}
        >
          <bdi>{file.path}</bdi>
        </Link>
        {matched.length > 0 && (
          <span className="preview-steps">
            <button
              type="button"
              className="icon-button"
              aria-label="Previous match"
              disabled={at === 0}
              onClick={() => setAt(at - 1)}
            >
              <ChevronUp {...ICON} />
            </button>
            <span>
              {at + 1} of {matched.length}
            </span>
            <button
              type="button"
              className="icon-button"
              aria-label="Next match"
              disabled={at === matched.length - 1}
              onClick={() => setAt(at + 1)}
            >
              <ChevronDown {...ICON} />
            </button>
          </span>
        )}
        <button
          type="button"
          className="icon-button"
          aria-label="Close the preview"
          title="Close the preview (v)"
          onClick={close}
        >
          <X {...ICON} />
        </button>
      </header>
      {error !== null && <Notice kind="danger" title={error.message} />}
      {data !== undefined && (
        <CodeView
          path={file.path}
          text={data.source}
          language={data.language}
          isColoured={data.source.length <= COLOURED_SIZE_MAX}
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
      )}
    </>
  );
}
