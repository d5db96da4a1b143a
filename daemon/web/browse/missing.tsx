// What is said where there is no such file: that it is a submodule, or the same path elsewhere, files of the same name, and a
// search for it.

import { Link } from 'wouter';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { parentOf } from './file-kind.ts';
import { FolderView } from './folder-view.tsx';
import { useFiles, useFolder } from './reading.ts';
import { nameSearch } from './search-address.ts';

const NAMESAKES_MAX = 10;

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function Namesakes({ place }: { readonly place: Place }) {
  const { data } = useFiles(place);
  const name = nameOf(place.path);
  const found = (data ?? []).filter((file) => file.name === name).slice(0, NAMESAKES_MAX);
  return found.map(({ path }) => (
    <li key={path}>
      <Link href={addressOf({ ...place, kind: 'blob', path })}>
        <Name>{path}</Name>
      </Link>
    </li>
  ));
}

/** Where it is indexed it is a repository with the name of the outer one and its path. */
function Submodule({ place: { repo, path } }: { readonly place: Place }) {
  const inner: Place = { repo: `${repo}/${path}`, revision: undefined, kind: 'tree', path: '' };
  const { data, isPending } = useFolder(inner);
  if (isPending) return null;
  return (
    <div className="narrow">
      <Notice
        kind="info"
        title={`${path} is a submodule: another repository, of which ${repo} names a commit.`}
      >
        {data === undefined ? (
          'It is not indexed as a part of this one, or you may not see it.'
        ) : (
          <Link href={addressOf(inner)}>
            <Name>{inner.repo}</Name>
          </Link>
        )}
      </Notice>
    </div>
  );
}

interface MissingProps {
  readonly place: Place;
  /** Do searches find it all the same? */
  readonly isIndexed: boolean;
}

/** A path that is a folder is shown as one. */
export function Missing({ place, isIndexed }: MissingProps) {
  const { path, repo, revision } = place;
  const folder = useFolder(place);
  const above = useFolder({ ...place, path: parentOf(path) });
  if (folder.isPending || above.isPending) return null;
  if (above.data?.some((item) => item.path === path && item.type === 'commit') === true)
    return <Submodule place={place} />;
  if (folder.data !== undefined && folder.data.length > 0)
    return <FolderView place={{ ...place, kind: 'tree' }} />;
  return (
    <div className="narrow">
      <Notice
        kind="danger"
        title={`There is no ${path} at ${revision ?? 'the default revision'} in ${repo}, or you may not see it.`}
      >
        {isIndexed
          ? 'It was moved or removed since it was indexed; searches find it until it is indexed again.'
          : undefined}
      </Notice>
      <ul className="next-steps">
        {revision !== undefined && (
          <li>
            <Link href={addressOf({ ...place, revision: undefined })}>
              The same path at the default revision
            </Link>
          </li>
        )}
        <Namesakes place={place} />
        <li>
          <Link href={nameSearch(place, nameOf(path))}>
            Search for <Name>{nameOf(path)}</Name>
          </Link>
        </li>
        <li>
          <Link href={addressOf({ ...place, kind: 'tree', path: '' })}>All files</Link>
        </li>
      </ul>
    </div>
  );
}
