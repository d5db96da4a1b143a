// A commit: who, when, why, and what it changed, file by file.

import { Link } from 'wouter';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';
import { counted } from '../parts/words.ts';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { FileChanges } from './file-changes.tsx';
import { useCommit } from './history-reading.ts';
import type { FileDiff } from './history-reading.ts';

/** Files whose lines are drawn at once; the others are opened one by one. */
const OPEN_MAX = 50;

export interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

export function countsOf({ hunks }: FileDiff): LineCounts {
  const markers = hunks.flatMap(({ body }) => body.split('\n').map((line) => line[0]));
  return {
    added: markers.filter((marker) => marker === '+').length,
    removed: markers.filter((marker) => marker === '-').length,
  };
}

function Totals({ files }: { readonly files: readonly FileDiff[] }) {
  const counts = files.map(countsOf);
  const added = counts.reduce((sum, one) => sum + one.added, 0);
  const removed = counts.reduce((sum, one) => sum + one.removed, 0);
  return (
    <p>
      {counted(files.length, 'file')} <span className="added">+{added}</span>{' '}
      <span className="removed">−{removed}</span>
    </p>
  );
}

export function CommitView({ place }: { readonly place: Place }) {
  const { commit, diff } = useCommit(place.repo, place.path);
  if (commit.error !== null) return <Notice kind="danger" title={commit.error.message} />;
  if (commit.data === undefined) return null;
  const { hash, message, body, authorName, authorEmail, date, parents } = commit.data;
  return (
    <article className="history">
      <h2 className="commit-title">{message}</h2>
      {body !== '' && <pre className="commit-body">{body}</pre>}
      <p className="faint">
        <bdi title={authorEmail}>{authorName}</bdi> · <When at={date} /> · <code>{hash}</code>
        {parents.map((parent) => (
          <span key={parent}>
            {' '}
            · parent{' '}
            <Link href={addressOf({ ...place, path: parent })}>
              <code>{parent.slice(0, 7)}</code>
            </Link>
          </span>
        ))}
      </p>
      {parents.length === 0 && <Notice kind="info" title="The first commit: all files are new." />}
      {diff.error !== null && <Notice kind="danger" title={diff.error.message} />}
      {diff.data !== undefined && (
        <>
          <Totals files={diff.data.files} />
          {diff.data.files.map((file, index) => (
            <FileChanges
              key={`${file.oldPath ?? ''} ${file.newPath ?? ''}`}
              place={{ ...place, revision: hash }}
              file={file}
              isOpenAtFirst={index < OPEN_MAX}
            />
          ))}
        </>
      )}
    </article>
  );
}
