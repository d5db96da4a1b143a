// The tree beside a file: a level is asked for when its folder is opened; folders on the way to the file are open.

import { ChevronDown, ChevronRight, File, Folder } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { useFolder } from './reading.ts';

interface LevelProps {
  readonly place: Place;
  readonly path: string;
  readonly depth: number;
}

function Level({ place, path, depth }: LevelProps) {
  const { data, error } = useFolder({ ...place, path });
  if (error !== null) return <p className="tree-note danger">{error.message}</p>;
  if (data === undefined) return <p className="tree-note faint">&nbsp;</p>;
  return (
    <ul
      className="tree-level"
      role={depth === 1 ? 'tree' : 'group'}
      aria-label={depth === 1 ? 'Files' : undefined}
    >
      {data.map((item) => (
        <Row key={item.path} place={place} item={item} depth={depth} />
      ))}
    </ul>
  );
}

interface RowProps {
  readonly place: Place;
  readonly item: { readonly type: string; readonly path: string; readonly name: string };
  readonly depth: number;
}

function Row({ place, item, depth }: RowProps) {
  const isOnWay = `${place.path}/`.startsWith(`${item.path}/`);
  const [isOpen, setOpen] = useState(isOnWay);
  const isFolder = item.type === 'tree';
  const isHere = place.path === item.path;
  const Icon = isFolder ? Folder : File;
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <li
      role="treeitem"
      aria-level={depth}
      aria-selected={isHere}
      aria-expanded={isFolder ? isOpen : undefined}
      className="tree-item"
    >
      <div
        className={isHere ? 'tree-row tree-row-here' : 'tree-row'}
        data-depth={Math.min(depth, 12)}
      >
        {isFolder ? (
          <button
            type="button"
            className="tree-arrow"
            aria-label={`${isOpen ? 'Close' : 'Open'} ${item.name}`}
            onClick={() => setOpen(!isOpen)}
          >
            <Arrow size={16} strokeWidth={1.5} aria-hidden />
          </button>
        ) : (
          <span className="tree-arrow" />
        )}
        <Link
          href={addressOf({ ...place, kind: isFolder ? 'tree' : 'blob', path: item.path })}
          className="tree-link"
          title={item.path}
        >
          <Icon size={16} strokeWidth={1.5} aria-hidden />
          <bdi>{item.name}</bdi>
        </Link>
      </div>
      {isFolder && isOpen && <Level place={place} path={item.path} depth={depth + 1} />}
    </li>
  );
}

export function FileTree({ place }: { readonly place: Place }) {
  return (
    <aside className="tree" aria-label="Files">
      <Level place={place} path="" depth={1} />
    </aside>
  );
}
