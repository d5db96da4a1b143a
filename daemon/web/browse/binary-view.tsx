// A file without text: its size and type, a preview if it is a picture, how searches treat it, and a link to the raw
// bytes.

import { visibleName } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { size } from '../parts/number-format.ts';
import type { BrowseTarget } from './address.ts';
import { isDrawing } from './file-kind.ts';
import { NotSearched } from './file-notices.tsx';
import type { IndexEntry } from './index-entry.ts';
import { rawAddress, useRawFacts } from './file-queries.ts';

interface BinaryViewProps {
  readonly target: BrowseTarget;
  readonly entry: IndexEntry | undefined;
}

export function BinaryView({ target, entry }: BinaryViewProps) {
  const { data, error } = useRawFacts(target);
  const address = rawAddress(target);
  if (error === null && data === undefined) return null;
  const isPicture = data?.type.startsWith('image/') === true;
  const look = isDrawing(target.path) ? 'picture drawing' : 'picture';
  const isByName = entry?.state === 'there' && entry.skipReason !== undefined;
  const facts = [
    data?.size === undefined ? undefined : size(data.size),
    data?.type === 'application/octet-stream' ? 'binary' : data?.type,
    isByName ? 'found by name only' : undefined,
  ];
  return (
    <>
      {!isByName && <NotSearched entry={entry} />}
      {data === undefined && error !== null && <Notice kind="danger" title={error.message} />}
      <div className="binary">
        {isPicture && <img src={address} alt={visibleName(target.path)} className={look} />}
        <p className="faint">{facts.filter((fact) => fact !== undefined).join(' · ')}</p>
        <a href={address} className="button">
          Raw
        </a>
      </div>
    </>
  );
}
