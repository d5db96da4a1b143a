// The lower panel with the commits that changed a file, filtered by author. Each entry links to the commit and to the
// file at that commit.

import { useState } from 'react';
import { Link } from 'wouter';
import { FilterInput } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { counted } from '../parts/number-format.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { shortId, useCommits } from './history-queries.ts';
import { Panel } from './panel.tsx';

interface HistoryPanelProps {
  readonly target: BrowseTarget;
  readonly close: () => void;
}

export function HistoryPanel({ target, close }: HistoryPanelProps) {
  const [author, setAuthor] = useState('');
  const { data, error } = useCommits(target, { author: author || undefined, page: 1 });
  return (
    <Panel
      title="History"
      close={close}
      head={
        <>
          {data?.total !== undefined && <span>{counted(data.total, 'commit')}</span>}
          <FilterInput className="panel-filter" label="Author" value={author} set={setAuthor} />
          <Link href={addressOf({ ...target, kind: 'commits' })}>
            All commits, with more filters
          </Link>
        </>
      }
    >
      {error !== null && <Notice kind="danger" title={error.message} />}
      {data?.items.length === 0 && <p className="empty">No commits match.</p>}
      {data?.items.map(({ hash, message, authorName, date }) => (
        <div key={hash} className="history-row">
          <Link href={addressOf({ ...target, kind: 'commit', path: hash })}>
            <code>{shortId(hash)}</code>
          </Link>
          <Name className="history-message">{message}</Name>
          <Name className="history-author" title={authorName}>
            {authorName}
          </Name>
          <When at={date} />
          <Link href={addressOf({ ...target, revision: hash })}>View file</Link>
        </div>
      ))}
    </Panel>
  );
}
