// A file: its facts, its code, and what is said where it cannot be shown.

import { ExternalLink } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { CodeView } from '../code/code-view.tsx';
import { ApiFailure } from '../data/api.ts';
import { Notice } from '../parts/notice.tsx';
import { counted } from '../parts/words.ts';
import { lineRangeOf, rangeText } from '../code/line-range.ts';
import type { LineRange } from '../code/line-range.ts';
import type { Place } from './address.ts';
import { addressOf } from './address.ts';
import { useBlame } from './history-reading.ts';
import type { Blame } from './history-reading.ts';
import { useSource } from './reading.ts';
import type { BlameStretch } from '../code/blame-gutter.ts';
import { BASE_PATH } from '../data/place.ts';

function isMissing(error: Error): boolean {
  return error instanceof ApiFailure && error.statusCode === 404;
}

function Failure({ place, error }: { readonly place: Place; readonly error: Error }) {
  const { path, repo, revision } = place;
  const at = revision === undefined ? '' : ` at ${revision}`;
  const title = isMissing(error)
    ? `There is no ${path}${at} in ${repo}, or you may not see it.`
    : error.message;
  return <Notice kind="danger" title={title} />;
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** What the column shows; the name of a commit leads to it. */
function stretchesOf({ ranges, commits }: Blame, place: Place): BlameStretch[] {
  return ranges.map(({ hash, startLine }) => ({
    startLine,
    author: commits[hash]?.authorName ?? '',
    date: commits[hash]?.date ?? '',
    message: commits[hash]?.message ?? '',
    address: `${BASE_PATH}${addressOf({ ...place, kind: 'commit', path: hash })}`,
  }));
}

export function FileView({ place }: { readonly place: Place }) {
  const { data, error } = useSource(place);
  const [parameters, setParameters] = useSearchParams();
  const range = lineRangeOf(parameters.get('highlightRange'));
  const isBlamed = parameters.get('blame') === '1';
  const blame = useBlame(place, isBlamed);
  const toggleBlame = (): void =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (isBlamed) after.delete('blame');
        else after.set('blame', '1');
        return after;
      },
      { replace: true },
    );
  const choose = (chosen: LineRange): void =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        after.set('highlightRange', rangeText(chosen));
        return after;
      },
      { replace: true },
    );
  if (error !== null) return <Failure place={place} error={error} />;
  if (data === undefined) return null;
  return (
    <>
      <div className="file-bar">
        {data.language !== '' && <span>{data.language}</span>}
        <span>{counted(lineCount(data.source), 'line')}</span>
        <button type="button" className="link-button" aria-pressed={isBlamed} onClick={toggleBlame}>
          Blame
        </button>
        <Link href={addressOf({ ...place, kind: 'commits' })}>History</Link>
        {blame.error !== null && <span className="danger">{blame.error.message}</span>}
        {data.externalWebUrl !== undefined && (
          <a href={data.externalWebUrl} rel="noopener noreferrer" target="_blank">
            At the code host{' '}
            <ExternalLink size={16} strokeWidth={1.5} className="inline-icon" aria-hidden />
          </a>
        )}
      </div>
      <CodeView
        path={place.path}
        text={data.source}
        language={data.language}
        range={range}
        blame={isBlamed && blame.data !== undefined ? stretchesOf(blame.data, place) : undefined}
        onRange={choose}
      />
    </>
  );
}
