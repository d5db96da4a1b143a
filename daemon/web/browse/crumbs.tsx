// Breadcrumbs: repository, revision, folders and file, each a link.

import { Copy, PanelLeft, Search } from 'lucide-react';
import { Link } from 'wouter';
import { copyText } from '../parts/clipboard.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { Name } from '../parts/visible-text.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { RevisionPicker } from './revision-picker.tsx';

interface Crumb {
  readonly name: string;
  readonly path: string;
}

function crumbsOf(path: string): Crumb[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}

interface CrumbsProps {
  readonly target: BrowseTarget;
  readonly toggleTree: () => void;
  readonly find: () => void;
}

export function Crumbs({ target, toggleTree, find }: CrumbsProps) {
  const { repo, path, kind } = target;
  const crumbs = kind === 'commit' ? [] : crumbsOf(path);
  return (
    <div className="crumbs">
      <IconButton label="Files" hint="Ctrl+B" icon={PanelLeft} run={toggleTree} />
      <nav aria-label="Path" className="crumb-names">
        <Link
          href={addressOf({ ...target, kind: 'tree', path: '' })}
          className="crumb-repo"
          title={visibleName(repo)}
        >
          <Name>{repo}</Name>
        </Link>
        {crumbs.map((crumb, index) => {
          const isLast = index === crumbs.length - 1;
          return (
            <span key={crumb.path} className="crumb">
              <span className="faint" aria-hidden>
                ▸
              </span>
              {isLast ? (
                <Name className="file-name" aria-current="page">
                  {crumb.name}
                </Name>
              ) : (
                <Link href={addressOf({ ...target, kind: 'tree', path: crumb.path })}>
                  <Name>{crumb.name}</Name>
                </Link>
              )}
            </span>
          );
        })}
        {path !== '' && kind !== 'commit' && (
          <IconButton label="Copy path" icon={Copy} run={() => void copyText(path, 'Path')} />
        )}
      </nav>
      <IconButton label="Find a file" hint="t" icon={Search} run={find} />
      <RevisionPicker target={target} />
    </div>
  );
}
