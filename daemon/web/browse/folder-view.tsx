// A folder: its children, folders first, and its README.

import { File, Folder, FolderGit2, SearchX } from 'lucide-react';
import { Suspense, lazy } from 'react';
import { Link } from 'wouter';
import { visibleName } from '../parts/hidden-characters.ts';
import { ICON } from '../parts/icon.ts';
import { Notice } from '../parts/notice.tsx';
import { notSearched } from '../parts/skip-reasons.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { counted } from '../parts/number-format.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { isMarkdown, linkedPath, readmeOf } from './file-kind.ts';
import { LAST, shortId, useCommits } from './history-queries.ts';
import { useSkipReasons } from './index-entry.ts';
import { useFolder, useSource } from './file-queries.ts';
import { folderSearch } from './search-address.ts';

const MarkdownView = lazy(() => import('./markdown-view.tsx'));

type Children = NonNullable<ReturnType<typeof useFolder>['data']>;

function FolderBar({ target, items }: { readonly target: BrowseTarget; readonly items: Children }) {
  const count = (kind: string): number => items.filter(({ type }) => type === kind).length;
  const submodules = count('commit');
  return (
    <div className="file-bar">
      <span className="bar-fact">
        {counted(count('tree'), 'folder')}, {counted(count('blob'), 'file')}
        {submodules > 0 && `, ${counted(submodules, 'submodule')}`}
      </span>
      <Link href={addressOf({ ...target, kind: 'commits' })} className="bar-toggle">
        History
      </Link>
      <Link href={folderSearch(target)} className="bar-toggle">
        Search here
      </Link>
    </div>
  );
}

/** The last commit that changed the folder. It takes its space before it loads, and stays empty without a history. */
function LastCommit({ target }: { readonly target: BrowseTarget }) {
  const { data, error } = useCommits(target, LAST);
  if (error !== null) return null;
  const commit = data?.items[0];
  return (
    <div className="history-row last-commit">
      {commit !== undefined && (
        <>
          <Link href={addressOf({ ...target, kind: 'commit', path: commit.hash })}>
            <code>{shortId(commit.hash)}</code>
          </Link>
          <Name className="history-message">{commit.message}</Name>
          <Name className="history-author" title={commit.authorName}>
            {commit.authorName}
          </Name>
          <When at={commit.date} />
        </>
      )}
    </div>
  );
}

/**
 * The README below the list. A symbolic link shows the document that it points to. A README that cannot be loaded is
 * left out: it is in the list anyway.
 */
function Readme({ target }: { readonly target: BrowseTarget }) {
  const { data } = useSource(target);
  const linkTarget = data && linkedPath(target.path, data.source);
  const linkedTarget = { ...target, path: linkTarget ?? '' };
  const linked = useSource(linkedTarget, undefined, linkTarget !== undefined);
  if (data === undefined || linked.isLoading) return null;
  const text = linked.data?.source ?? data.source;
  const visibleTarget = linked.data === undefined ? target : linkedTarget;
  if (!isMarkdown(visibleTarget.path))
    return (
      <pre className="readme-text">
        <VisibleText text={text} />
      </pre>
    );
  return (
    <Suspense fallback={null}>
      <MarkdownView target={visibleTarget} text={text} isPart />
    </Suspense>
  );
}

interface ChildProps {
  readonly target: BrowseTarget;
  readonly item: Children[number];
  /** Undefined: its content is searched, or this is unknown. */
  readonly skipReason: string | undefined;
}

function Child({ target, item, skipReason }: ChildProps) {
  const isFolder = item.type === 'tree';
  const isSubmodule = item.type === 'commit';
  const Icon = isSubmodule ? FolderGit2 : isFolder ? Folder : File;
  return (
    <li>
      <Link
        href={addressOf({ ...target, kind: isFolder ? 'tree' : 'blob', path: item.path })}
        className="folder-row"
        title={visibleName(item.name)}
      >
        <Icon {...ICON} />
        <Name className="folder-name">{item.name}</Name>
        {isSubmodule && <span className="folder-mark">submodule</span>}
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

export function FolderView({ target }: { readonly target: BrowseTarget }) {
  const { data, error } = useFolder(target);
  const skipReasons = useSkipReasons(target);
  if (data === undefined)
    return error === null ? null : (
      <Notice kind="danger" title={error.message}>
        <Link href="/repos">All repositories</Link>
      </Notice>
    );
  if (data.length === 0)
    return (
      <Notice
        kind="info"
        title={`Folder ${target.path} does not exist or is empty in ${target.repo} at this revision.`}
      />
    );
  const files = data.filter(({ type }) => type === 'blob');
  const readmeName = readmeOf(files.map(({ name }) => name));
  const readme = files.find(({ name }) => name === readmeName);
  return (
    <>
      <FolderBar target={target} items={data} />
      <LastCommit key={addressOf(target)} target={target} />
      <ul className="folder-list">
        {data.map((item) => (
          <Child
            key={item.path}
            target={target}
            item={item}
            skipReason={skipReasons?.get(item.path)}
          />
        ))}
      </ul>
      {readme !== undefined && <Readme target={{ ...target, kind: 'blob', path: readme.path }} />}
    </>
  );
}
