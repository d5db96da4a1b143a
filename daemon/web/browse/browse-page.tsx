// Browsing a repository: where one is, the tree beside it, and the file, folder or history of the address.

import { useParams } from 'wouter';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { placeOf } from './address.ts';
import type { Place } from './address.ts';
import { CommitList } from './commit-list.tsx';
import { CommitView } from './commit-view.tsx';
import { Crumbs } from './crumbs.tsx';
import { FileTree } from './file-tree.tsx';
import { FileView } from './file-view.tsx';
import { FolderView } from './folder-view.tsx';
import '../styles/browse.css';

function View({ place }: { readonly place: Place }) {
  if (place.kind === 'blob') return <FileView place={place} />;
  if (place.kind === 'tree') return <FolderView place={place} />;
  return place.kind === 'commits' ? <CommitList place={place} /> : <CommitView place={place} />;
}

export default function BrowsePage() {
  const { '*': rest } = useParams<{ '*': string }>();
  const place = placeOf(rest);
  useTitle(
    place === undefined
      ? 'Unknown page'
      : `${place.path === '' ? '' : `${place.path} · `}${place.repo}`,
  );
  if (place === undefined)
    return (
      <div className="narrow">
        <Notice kind="danger" title="This address names no file or folder." />
      </div>
    );
  return (
    <div className="browse">
      <h1 className="visually-hidden">{place.path === '' ? place.repo : place.path}</h1>
      <Crumbs place={place} />
      <FileTree place={place} />
      <div className="browse-content">
        <View place={place} />
      </div>
    </div>
  );
}
