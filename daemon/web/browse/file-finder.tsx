// The file finder: a dialog that lists files of the repository at this revision that match the typed text, best first.

import { Dialog } from '@ariakit/react';
import { Command } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { MarkedText } from '../code/marked-text.tsx';
import { BASE_PATH } from '../data/base-path.ts';
import { tracesOf, useRemembered } from '../data/remembered.ts';
import { counted } from '../parts/number-format.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import type { FromFinder, ToFinder } from './finder-messages.ts';
import '../styles/overlays.css';

/** Starts a worker for the files of the repository. @returns  its latest answer */
function useFinder(repo: string, revision: string, text: string): FromFinder | undefined {
  const [answer, setAnswer] = useState<FromFinder>();
  const worker = useRef<Worker>(null);
  useEffect(() => {
    const made = new Worker(new URL('./finder-worker.ts', import.meta.url), { type: 'module' });
    made.addEventListener('message', ({ data }: MessageEvent<FromFinder>) => setAnswer(data));
    const seen = seenIn(repo);
    made.postMessage({ type: 'open', base: BASE_PATH, repo, revision, seen } satisfies ToFinder);
    worker.current = made;
    return () => made.terminate();
  }, [repo, revision]);
  useEffect(() => {
    worker.current?.postMessage({ type: 'find', text } satisfies ToFinder);
  }, [text]);
  return answer;
}

function said(answer: FromFinder | undefined): string {
  if (answer === undefined) return 'Loading the list of files';
  if (answer.type === 'failed') return answer.message;
  if (answer.total === 0) return 'No matching files.';
  const visibleCount = answer.paths.length;
  return visibleCount < answer.total
    ? `${counted(visibleCount, 'file')} of ${counted(answer.total, 'file')} match`
    : counted(visibleCount, 'file');
}

/** Recently viewed paths of the repository, latest first. */
function seenIn(repo: string): string[] {
  const { files } = tracesOf(useRemembered.getState());
  return files.filter((file) => file.repo === repo).map(({ path }) => path);
}

interface FileFinderProps {
  readonly target: BrowseTarget;
  readonly close: () => void;
}

export default function FileFinder({ target, close }: FileFinderProps) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const answer = useFinder(target.repo, target.revision ?? 'HEAD', text);
  const choose = (path: string): void => {
    close();
    navigate(addressOf({ ...target, kind: 'blob', path }));
  };
  const paths = answer?.type === 'found' ? answer.paths : [];
  return (
    <Dialog
      open
      onClose={close}
      className="dialog finder"
      aria-label="Find a file"
      backdrop={<div className="backdrop" />}
    >
      <Command shouldFilter={false} label="Files">
        <Command.Input
          className="input"
          value={text}
          onValueChange={setText}
          placeholder="Part of a path"
          autoFocus
        />
        <p role="status" className="finder-status">
          {said(answer)}
        </p>
        <Command.List className="finder-list">
          {paths.map(({ path, marks }) => (
            <Command.Item
              key={path}
              value={path}
              className="popover-item"
              onSelect={() => choose(path)}
            >
              <bdi>
                <MarkedText isName text={path} marks={marks} />
              </bdi>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Dialog>
  );
}
