// A commit: author, date, message, and its changes against its first parent or against `base` of the address.

import { Copy } from 'lucide-react';
import { Link } from 'wouter';
import { useAddressParameters } from '../data/address-parameters.ts';
import { copyText } from '../parts/clipboard.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { useRemembered } from '../data/remembered.ts';
import { Notice } from '../parts/notice.tsx';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { useIsNarrow } from '../parts/window-width.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { DiffList } from './diff-list.tsx';
import { type Commit, shortId, useCommit, useDiff } from './history-queries.ts';
import '../styles/diff.css';

const PARAMETERS = ['diff', 'path', 'base', 'ws'];

function CommitFacts({
  commit,
  target,
}: {
  readonly commit: Commit;
  readonly target: BrowseTarget;
}) {
  const { hash, message, body, authorName, authorEmail, date, parents } = commit;
  return (
    <>
      <h2 className="commit-title">
        <Name>{message}</Name>
      </h2>
      {body !== '' && (
        <pre className="commit-body">
          <VisibleText text={body} />
        </pre>
      )}
      <p className="faint">
        <Name title={authorEmail}>{authorName}</Name> · <When at={date} /> ·{' '}
        <code>{shortId(hash)}</code>
        <IconButton
          label="Copy the commit id"
          hint={hash}
          icon={Copy}
          run={() => void copyText(hash, 'Id')}
        />
        {parents.map((parent) => (
          <span key={parent}>
            {' '}
            · parent{' '}
            <Link href={addressOf({ ...target, path: parent })}>
              <code>{shortId(parent)}</code>
            </Link>
          </span>
        ))}
        {parents.length === 0 && ' · the first commit: all files are new'}
      </p>
    </>
  );
}

interface ControlsProps {
  readonly isSplit: boolean;
  /** Is the window wide enough for two columns? */
  readonly canSplit: boolean;
  readonly choose: (isSplit: boolean) => void;
  readonly ignoresSpace: boolean;
  readonly setIgnoresSpace: (isOn: boolean) => void;
}

function Controls(props: ControlsProps) {
  const { isSplit, canSplit, choose, ignoresSpace, setIgnoresSpace } = props;
  return (
    <div className="diff-controls">
      {canSplit && (
        <>
          <button
            type="button"
            className="button"
            aria-pressed={isSplit}
            onClick={() => choose(true)}
          >
            Split
          </button>
          <button
            type="button"
            className="button"
            aria-pressed={!isSplit}
            onClick={() => choose(false)}
          >
            Unified
          </button>
        </>
      )}
      <label className="choice">
        <input
          type="checkbox"
          checked={ignoresSpace}
          onChange={(event) => setIgnoresSpace(event.target.checked)}
        />
        Ignore white space
      </label>
    </div>
  );
}

export function CommitView({ target }: { readonly target: BrowseTarget }) {
  const { valueOf, change } = useAddressParameters(PARAMETERS);
  const isNarrow = useIsNarrow();
  const [path, base] = [valueOf('path'), valueOf('base')];
  const ignoresSpace = valueOf('ws') === '1';
  const { isDiffUnified, set } = useRemembered();
  const isSplit = !isNarrow && (valueOf('diff') ?? (isDiffUnified ? 'unified' : '')) !== 'unified';
  const commit = useCommit(target.repo, target.path);
  const diff = useDiff({ repo: target.repo, head: target.path, base, path, ignoresSpace });
  const choose = (isChosen: boolean): void => {
    set({ isDiffUnified: !isChosen });
    change({ diff: isChosen ? 'split' : 'unified' });
  };
  if (commit.data === undefined && commit.error !== null)
    return <Notice kind="danger" title={commit.error.message} />;
  const head = (
    <>
      {commit.data !== undefined && <CommitFacts commit={commit.data} target={target} />}
      {base !== undefined && (
        <Notice kind="info" title={`Compared with ${base}, not with the parent commit.`}>
          <button
            type="button"
            className="link-button"
            onClick={() => change({ base: '' }, 'step')}
          >
            Compare with the parent
          </button>
        </Notice>
      )}
      {path !== undefined && (
        <Notice kind="info" title={`Showing only ${path}.`}>
          <button
            type="button"
            className="link-button"
            onClick={() => change({ path: '' }, 'step')}
          >
            Show all files
          </button>
        </Notice>
      )}
      <Controls
        isSplit={isSplit}
        canSplit={!isNarrow}
        choose={choose}
        ignoresSpace={ignoresSpace}
        setIgnoresSpace={(isOn) => change({ ws: isOn ? '1' : '' })}
      />
    </>
  );
  return (
    <DiffList
      key={`${target.repo} ${target.path} ${base ?? ''} ${path ?? ''}`}
      sides={{
        target: { ...target, revision: commit.data?.hash ?? target.path },
        base: base ?? `${target.path}^`,
      }}
      head={head}
      diff={diff}
      isSplit={isSplit}
      switchSplit={() => choose(!isSplit)}
    />
  );
}
