// A folder: its children, folders first.

import { File, Folder } from 'lucide-react';
import { Link } from 'wouter';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { useFolder } from './reading.ts';

export function FolderView({ place }: { readonly place: Place }) {
  const { data, error } = useFolder(place);
  if (error !== null) return <Notice kind="danger" title={error.message} />;
  if (data === undefined) return null;
  if (data.length === 0)
    return (
      <Notice
        kind="info"
        title={`There is no folder ${place.path} in ${place.repo} at this revision, or it is empty.`}
      />
    );
  return (
    <ul className="folder-list">
      {data.map((item) => {
        const isFolder = item.type === 'tree';
        const Icon = isFolder ? Folder : File;
        return (
          <li key={item.path}>
            <Link
              href={addressOf({ ...place, kind: isFolder ? 'tree' : 'blob', path: item.path })}
              className="folder-row"
            >
              <Icon size={16} strokeWidth={1.5} aria-hidden />
              <Name>{item.name}</Name>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
