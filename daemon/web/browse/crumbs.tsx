// Where one is: repository, revision, folders, file; each leads there.

import { Copy } from 'lucide-react';
import { Link } from 'wouter';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { RevisionPicker } from './revision-picker.tsx';

interface Crumb {
  readonly name: string;
  readonly path: string;
}

function crumbsOf(path: string): Crumb[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}

export function Crumbs({ place }: { readonly place: Place }) {
  const { repo, path, kind } = place;
  const crumbs = kind === 'commit' ? [] : crumbsOf(path);
  return (
    <div className="crumbs">
      <nav aria-label="Path" className="crumb-names">
        <Link href={addressOf({ ...place, kind: 'tree', path: '' })} className="crumb-repo">
          <bdi>{repo}</bdi>
        </Link>
        {crumbs.map((crumb, index) => {
          const isLast = index === crumbs.length - 1;
          return (
            <span key={crumb.path} className="crumb">
              <span className="faint" aria-hidden>
                ▸
              </span>
              {isLast ? (
                <bdi className="file-name" aria-current="page">
                  {crumb.name}
                </bdi>
              ) : (
                <Link href={addressOf({ ...place, kind: 'tree', path: crumb.path })}>
                  <bdi>{crumb.name}</bdi>
                </Link>
              )}
            </span>
          );
        })}
        {path !== '' && kind !== 'commit' && (
          <button
            type="button"
            className="icon-button"
            aria-label="Copy the path"
            title="Copy the path"
            onClick={() => void navigator.clipboard?.writeText(path)}
          >
            <Copy size={16} strokeWidth={1.5} aria-hidden />
          </button>
        )}
      </nav>
      <RevisionPicker place={place} />
    </div>
  );
}
