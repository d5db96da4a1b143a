// Browsing a repository: the path, the file tree, and the file, folder, commit or history that the address names.

import { Dialog } from '@ariakit/react';
import { Suspense, lazy, useEffect, useState } from 'react';
import { usePathname } from 'wouter/use-browser-location';
import { BASE_PATH } from '../data/base-path.ts';
import { useRemembered } from '../data/remembered.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { useKeys } from '../parts/keys.ts';
import { Notice } from '../parts/notice.tsx';
import { Separator, WIDTH_OF_FIRST } from '../parts/separator.tsx';
import { useTitle } from '../parts/title.ts';
import { type BrowseTarget, targetOf } from './address.ts';
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

/** Width of the tree, in px. */
const TREE_WIDTH = { min: 180, max: 480, initial: 260 };

function View({ target }: { readonly target: BrowseTarget }) {
  if (target.kind === 'blob') return <FileView target={target} />;
  if (target.kind === 'tree') return <FolderView target={target} />;
  return target.kind === 'commits' ? (
    <CommitList target={target} />
  ) : (
    <CommitView target={target} />
  );
}

export default function BrowsePage() {
  // Why not from the router: it has already decoded the path, so encoded slashes would be lost.
  const target = targetOf(usePathname().slice(`${BASE_PATH}/browse/`.length));
  useTitle(
    target === undefined
      ? 'Unknown page'
      : `${target.path === '' ? '' : `${target.path} · `}${target.repo}`,
  );
  if (target === undefined)
    return (
      <div className="narrow">
        <h1 className="visually-hidden">Unknown page</h1>
        <Notice kind="danger" title="This address does not name a file or folder." />
      </div>
    );
  return <Browse target={target} />;
}

function Browse({ target }: { readonly target: BrowseTarget }) {
  const [isTreeOpen, setTreeOpen] = useState(true);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const { repo, path } = target;
  // Choosing a file closes the drawer.
  useEffect(() => setDrawerOpen(false), [path]);
  const toggleTree = () => {
    // Wide enough for the tree beside the file.
    if (matchMedia('(min-width: 1100px)').matches) setTreeOpen(!isTreeOpen);
    else setDrawerOpen(!isDrawerOpen);
  };
  const find = () => setFinding(true);
  useKeys({ findFile: find, tree: toggleTree });
  const treeWidth = useRemembered((state) => state.treeWidth);
  const width: Readonly<Record<string, string>> = { '--own-width-tree': `${treeWidth}px` };
  return (
    <div className={isTreeOpen ? 'browse' : 'browse browse-bare'} style={width}>
      <h1 className="visually-hidden">{visibleName(path === '' ? repo : path)}</h1>
      <Crumbs target={target} toggleTree={toggleTree} find={find} />
      {isTreeOpen && <FileTree key={`${repo}@${target.revision ?? ''}`} target={target} />}
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
        <View target={target} />
      </div>
      <Dialog
        open={isDrawerOpen}
        onClose={() => setDrawerOpen(false)}
        className="drawer"
        aria-label="Files"
        backdrop={<div className="backdrop" />}
      >
        <FileTree key={`${repo}@${target.revision ?? ''}`} target={target} />
      </Dialog>
      {isFinding && (
        <Suspense fallback={null}>
          <FileFinder target={target} close={() => setFinding(false)} />
        </Suspense>
      )}
    </div>
  );
}
