// Browsing a repository: where one is, the tree beside it, and the file, folder or history of the address.

import { Dialog } from '@ariakit/react';
import { Suspense, lazy, useEffect, useState } from 'react';
import { usePathname } from 'wouter/use-browser-location';
import { BASE_PATH } from '../data/place.ts';
import { useRemembered } from '../data/remembered.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { useKeys } from '../parts/keys.ts';
import { Notice } from '../parts/notice.tsx';
import { Separator, WIDTH_OF_FIRST } from '../parts/separator.tsx';
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
import '../styles/file.css';
import '../styles/overlays.css';
import '../styles/tables.css';

const FileFinder = lazy(() => import('./file-finder.tsx'));

/** Of the tree, in px. */
const TREE_WIDTH = { min: 180, max: 480, initial: 260 };

/** Is there room for the tree beside the file? */
function isWideWindow(): boolean {
  return matchMedia('(min-width: 1100px)').matches;
}

function View({ place }: { readonly place: Place }) {
  if (place.kind === 'blob') return <FileView place={place} />;
  if (place.kind === 'tree') return <FolderView place={place} />;
  return place.kind === 'commits' ? <CommitList place={place} /> : <CommitView place={place} />;
}

export default function BrowsePage() {
  // As it is written: what the router makes of it says no more which characters were encoded.
  const place = placeOf(usePathname().slice(`${BASE_PATH}/browse/`.length));
  useTitle(
    place === undefined
      ? 'Unknown page'
      : `${place.path === '' ? '' : `${place.path} · `}${place.repo}`,
  );
  if (place === undefined)
    return (
      <div className="narrow">
        <h1 className="visually-hidden">Unknown page</h1>
        <Notice kind="danger" title="This address names no file or folder." />
      </div>
    );
  return <Browse place={place} />;
}

function Browse({ place }: { readonly place: Place }) {
  const [isTreeOpen, setTreeOpen] = useState(true);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const { repo, path } = place;
  // What was chosen in the drawer is what is wanted.
  useEffect(() => setDrawerOpen(false), [path]);
  const toggleTree = () => {
    if (isWideWindow()) setTreeOpen(!isTreeOpen);
    else setDrawerOpen(!isDrawerOpen);
  };
  const find = () => setFinding(true);
  useKeys({ findFile: find, tree: toggleTree });
  const treeWidth = useRemembered((state) => state.treeWidth);
  const width: Readonly<Record<string, string>> = { '--own-width-tree': `${treeWidth}px` };
  return (
    <div className={isTreeOpen ? 'browse' : 'browse browse-bare'} style={width}>
      <h1 className="visually-hidden">{visibleName(path === '' ? repo : path)}</h1>
      <Crumbs place={place} toggleTree={toggleTree} find={find} />
      {isTreeOpen && <FileTree key={`${repo}@${place.revision ?? ''}`} place={place} />}
      {isTreeOpen && (
        <Separator
          label="Width of the tree"
          value={treeWidth}
          {...TREE_WIDTH}
          {...WIDTH_OF_FIRST}
          onChange={(chosen) => useRemembered.getState().set({ treeWidth: chosen })}
        />
      )}
      <div className="browse-content">
        <View place={place} />
      </div>
      <Dialog
        open={isDrawerOpen}
        onClose={() => setDrawerOpen(false)}
        className="drawer"
        aria-label="Files"
        backdrop={<div className="backdrop" />}
      >
        <FileTree key={`${repo}@${place.revision ?? ''}`} place={place} />
      </Dialog>
      {isFinding && (
        <Suspense fallback={null}>
          <FileFinder place={place} close={() => setFinding(false)} />
        </Suspense>
      )}
    </div>
  );
}
