// A folder: its children, folders first, and what its README says.

import { File, Folder, SearchX } from 'lucide-react';
import { Suspense, lazy } from 'react';
import { Link } from 'wouter';
import { visibleName } from '../parts/hidden-characters.ts';
import { ICON } from '../parts/icon.ts';
import { Notice } from '../parts/notice.tsx';
import { notSearched } from '../parts/skip-reasons.ts';
import { Name } from '../parts/visible-text.tsx';
import { counted } from '../parts/words.ts';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { isReadme } from './file-kind.ts';
import { useSkipReasons } from './index-entry.ts';
import { useFolder, useSource } from './reading.ts';
import { folderSearch } from './search-address.ts';

const MarkdownView = lazy(() => import('./markdown-view.tsx'));

type Children = NonNullable<ReturnType<typeof useFolder>['data']>;

function FolderBar({ place, items }: { readonly place: Place; readonly items: Children }) {
  const folders = items.filter(({ type }) => type === 'tree').length;
  return (
    <div className="file-bar">
      <span className="bar-fact">
        {counted(folders, 'folder')}, {counted(items.length - folders, 'file')}
      </span>
      <Link href={addressOf({ ...place, kind: 'commits' })} className="bar-toggle">
        History
      </Link>
      <Link href={folderSearch(place)} className="bar-toggle">
        Search here
      </Link>
    </div>
  );
}

/** Below the list as a document. One that cannot be had is left out: the list says that it is there. */
function Readme({ place }: { readonly place: Place }) {
  const { data } = useSource(place);
  if (data === undefined) return null;
  return (
    <Suspense fallback={null}>
      <MarkdownView place={place} text={data.source} isPart />
    </Suspense>
  );
}

interface ChildProps {
  readonly place: Place;
  readonly item: Children[number];
  /** Undefined: its content is searched, or that is not known. */
  readonly skipReason: string | undefined;
}

function Child({ place, item, skipReason }: ChildProps) {
  const isFolder = item.type === 'tree';
  const Icon = isFolder ? Folder : File;
  return (
    <li>
      <Link
        href={addressOf({ ...place, kind: isFolder ? 'tree' : 'blob', path: item.path })}
        className="folder-row"
        title={visibleName(item.name)}
      >
        <Icon {...ICON} />
        <Name className="folder-name">{item.name}</Name>
        {skipReason !== undefined && (
          <span className="folder-mark" title={notSearched(skipReason)}>
            <SearchX {...ICON} />
            <span className="visually-hidden">{notSearched(skipReason)}</span>
          </span>
        )}
      </Link>
    </li>
  );
}

export function FolderView({ place }: { readonly place: Place }) {
  const { data, error } = useFolder(place);
  const skipReasons = useSkipReasons(place);
  if (error !== null) return <Notice kind="danger" title={error.message} />;
  if (data === undefined) return null;
  if (data.length === 0)
    return (
      <Notice
        kind="info"
        title={`There is no folder ${place.path} in ${place.repo} at this revision, or it is empty.`}
      />
    );
  const readme = data.find(({ type, name }) => type === 'blob' && isReadme(name));
  return (
    <>
      <FolderBar place={place} items={data} />
      <ul className="folder-list">
        {data.map((item) => (
          <Child
            key={item.path}
            place={place}
            item={item}
            skipReason={skipReasons?.get(item.path)}
          />
        ))}
      </ul>
      {readme !== undefined && <Readme place={{ ...place, kind: 'blob', path: readme.path }} />}
    </>
  );
}
