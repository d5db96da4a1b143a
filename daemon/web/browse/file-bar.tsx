// The bar above a file: facts, views, actions and links.

import { ChevronDown, ChevronUp, Link2, Pin, SquarePen } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRemembered } from '../data/remembered.ts';
import { HostLink } from '../parts/host-link.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { ICON } from '../parts/icon.ts';
import { count, counted } from '../parts/number-format.ts';
import type { OutlineState } from './outline.tsx';
import type { Panels } from './panels.ts';

interface ToggleProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly toggle: () => void;
  /** Why the toggle is disabled. */
  readonly hindrance?: string | undefined;
}

function Toggle({ label, isOn, toggle, hindrance }: ToggleProps) {
  return (
    <button
      type="button"
      className="bar-toggle"
      aria-pressed={isOn}
      aria-disabled={hindrance !== undefined}
      title={hindrance}
      onClick={hindrance === undefined ? toggle : undefined}
    >
      {label}
    </button>
  );
}

interface MatchStepsProps {
  readonly total: number;
  /** Are there more matches in the file? */
  readonly isLimited: boolean;
  /** 0 is the first; undefined: not at a match. */
  readonly current: number | undefined;
  readonly step: (by: 1 | -1) => void;
}

function MatchSteps({ total, isLimited, current, step }: MatchStepsProps) {
  if (total === 0) return null;
  return (
    <span className="bar-group">
      <span>
        {current === undefined
          ? `${isLimited ? 'first ' : ''}${counted(total, 'match', 'matches')}`
          : `match ${count(current + 1)} of ${isLimited ? 'the first ' : ''}${count(total)}`}
      </span>
      <IconButton label="Next match" hint="n" icon={ChevronDown} run={() => step(1)} />
      <IconButton label="Previous match" hint="p" icon={ChevronUp} run={() => step(-1)} />
    </span>
  );
}

export interface FileBarProps {
  readonly language: string;
  /** Undefined: the file has no text. */
  readonly lineCount: number | undefined;
  readonly canWrap: boolean;
  /** Undefined: there is only one view. */
  readonly view: 'code' | 'preview' | undefined;
  readonly setView: (view: 'code' | 'preview') => void;
  readonly isBlamed: boolean;
  readonly toggleBlame: () => void;
  readonly outline: OutlineState;
  readonly panels: Panels;
  readonly rawAddress: string;
  readonly externalAddress: string | undefined;
  /** Opens the file in the reader's editor; undefined: none is chosen. */
  readonly editorAddress: string | undefined;
  readonly matches: MatchStepsProps;
  /** Menu for the linked lines; undefined: no lines are linked. */
  readonly linesMenu: ReactNode;
  readonly copyLink: () => void;
  readonly pin: () => void;
  /** The error message; '': no error. */
  readonly fault: string;
}

/** Wraps long lines, in this file and all others. */
function WrapToggle({ canWrap }: Pick<FileBarProps, 'canWrap'>) {
  const { isWrapped, set } = useRemembered();
  return (
    <Toggle
      label="Wrap"
      isOn={isWrapped && canWrap}
      toggle={() => set({ isWrapped: !isWrapped })}
      hindrance={canWrap ? undefined : 'This file has a line that is too long to wrap.'}
    />
  );
}

export function FileBar(props: FileBarProps) {
  const { language, lineCount, view, setView, rawAddress, externalAddress, fault } = props;
  return (
    <div className="file-bar">
      {language !== '' && <span className="bar-fact">{language}</span>}
      {lineCount !== undefined && (
        <span className="bar-fact">{lineCount === 0 ? 'empty' : counted(lineCount, 'line')}</span>
      )}
      {view !== undefined && (
        <span className="bar-group">
          <Toggle label="Code" isOn={view === 'code'} toggle={() => setView('code')} />
          <Toggle label="Preview" isOn={view === 'preview'} toggle={() => setView('preview')} />
        </span>
      )}
      {lineCount !== undefined && view !== 'preview' && <WrapToggle canWrap={props.canWrap} />}
      {lineCount !== undefined && (
        <Toggle label="Blame" isOn={props.isBlamed} toggle={props.toggleBlame} />
      )}
      {lineCount !== undefined && view !== 'preview' && (
        <Toggle label="Outline" isOn={props.outline.isVisible} toggle={props.outline.toggle} />
      )}
      <Toggle
        label="History"
        isOn={props.panels.isHistoryOpen}
        toggle={props.panels.toggleHistory}
      />
      <a href={rawAddress} className="bar-toggle">
        Raw
      </a>
      <MatchSteps {...props.matches} />
      {props.linesMenu}
      <span className="bar-fault" role="status">
        {fault}
      </span>
      <span className="bar-group bar-ends">
        <IconButton label="Copy link" hint="c" icon={Link2} run={props.copyLink} />
        <IconButton label="Pin the address to this commit" hint="y" icon={Pin} run={props.pin} />
        {props.editorAddress !== undefined && (
          <a
            href={props.editorAddress}
            className="icon-button"
            aria-label="Open in editor"
            title="Open in editor"
          >
            <SquarePen {...ICON} />
          </a>
        )}
        <HostLink address={externalAddress} className="icon-button" />
      </span>
    </div>
  );
}
