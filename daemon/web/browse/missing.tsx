// For a path without a file: says if it is a submodule, and offers the same path elsewhere, files of the same name and
// a search.

import { Link } from 'wouter';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { parentOf } from './file-kind.ts';
import { FolderView } from './folder-view.tsx';
import { useFiles, useFolder } from './file-queries.ts';
import { nameSearch } from './search-address.ts';

const NAMESAKES_MAX = 10;

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function Namesakes({ target }: { readonly target: BrowseTarget }) {
  const { data } = useFiles(target);
  const name = nameOf(target.path);
  const found = (data ?? []).filter((file) => file.name === name).slice(0, NAMESAKES_MAX);
  return found.map(({ path }) => (
    <li key={path}>
      <Link href={addressOf({ ...target, kind: 'blob', path })}>
        <Name>{path}</Name>
      </Link>
    </li>
  ));
}

/** An indexed submodule is a repository whose name is the outer repository and the path. */
function Submodule({ target: { repo, path } }: { readonly target: BrowseTarget }) {
  const inner: BrowseTarget = {
    repo: `${repo}/${path}`,
    revision: undefined,
    kind: 'tree',
    path: '',
  };
  const { data, isPending } = useFolder(inner);
  if (isPending) return null;
  return (
    <div className="narrow">
      <Notice
        kind="info"
        title={`${path} is a submodule: ${repo} refers to a commit of another repository.`}
      >
        {data === undefined ? (
          'The submodule is not indexed, or you may not see it.'
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
  readonly target: BrowseTarget;
  /** Do searches still find the file? */
  readonly isIndexed: boolean;
}

/** A path that names a folder shows the folder. */
export function Missing({ target, isIndexed }: MissingProps) {
  const { path, repo, revision } = target;
  const folder = useFolder(target);
  const above = useFolder({ ...target, path: parentOf(path) });
  if (folder.isPending || above.isPending) return null;
  if (above.data?.some((item) => item.path === path && item.type === 'commit') === true)
    return <Submodule target={target} />;
  if (folder.data !== undefined && folder.data.length > 0)
    return <FolderView target={{ ...target, kind: 'tree' }} />;
  return (
    <div className="narrow">
      <Notice
        kind="danger"
        title={`${path} does not exist in ${repo} at ${revision ?? 'the default revision'}, or you may not see it.`}
      >
        {isIndexed
          ? 'It was moved or removed since it was indexed. Searches find it until the next indexing.'
          : undefined}
      </Notice>
      <ul className="next-steps">
        {revision !== undefined && (
          <li>
            <Link href={addressOf({ ...target, revision: undefined })}>
              The same path at the default revision
            </Link>
          </li>
        )}
        <Namesakes target={target} />
        <li>
          <Link href={nameSearch(target, nameOf(path))}>
            Search for <Name>{nameOf(path)}</Name>
          </Link>
        </li>
        <li>
          <Link href={addressOf({ ...target, kind: 'tree', path: '' })}>All files</Link>
        </li>
      </ul>
    </div>
  );
}
