// The bar above a file: what it is, how it is shown, and the ways out of it.

import { ChevronDown, ChevronUp, ExternalLink, Link2, Pin } from 'lucide-react';
import type { ReactNode } from 'react';
import { count, counted } from '../parts/words.ts';

interface IconButtonProps {
  readonly label: string;
  readonly keys: string;
  readonly run: () => void;
  readonly children: ReactNode;
}

function IconButton({ label, keys, run, children }: IconButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={`${label} (${keys})`}
      onClick={run}
    >
      {children}
    </button>
  );
}

interface ToggleProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly toggle: () => void;
}

function Toggle({ label, isOn, toggle }: ToggleProps) {
  return (
    <button type="button" className="bar-toggle" aria-pressed={isOn} onClick={toggle}>
      {label}
    </button>
  );
}

interface MatchStepsProps {
  readonly total: number;
  /** 0 is the first; undefined: at none. */
  readonly current: number | undefined;
  readonly step: (by: 1 | -1) => void;
}

function MatchSteps({ total, current, step }: MatchStepsProps) {
  if (total === 0) return null;
  return (
    <span className="bar-group">
      <span>
        {current === undefined
          ? counted(total, 'match', 'matches')
          : `match ${count(current + 1)} of ${count(total)}`}
      </span>
      <IconButton label="Next match" keys="n" run={() => step(1)}>
        <ChevronDown size={16} strokeWidth={1.5} aria-hidden />
      </IconButton>
      <IconButton label="Previous match" keys="p" run={() => step(-1)}>
        <ChevronUp size={16} strokeWidth={1.5} aria-hidden />
      </IconButton>
    </span>
  );
}

export interface FileBarProps {
  readonly language: string;
  /** Undefined: it is no text. */
  readonly lineCount: number | undefined;
  /** Undefined: it is shown in one way only. */
  readonly view: 'code' | 'preview' | undefined;
  readonly setView: (view: 'code' | 'preview') => void;
  readonly isBlamed: boolean;
  readonly toggleBlame: () => void;
  readonly isHistoryOpen: boolean;
  readonly toggleHistory: () => void;
  readonly rawAddress: string;
  readonly externalAddress: string | undefined;
  readonly matches: MatchStepsProps;
  readonly copyLink: () => void;
  readonly pin: () => void;
  /** What was done, or what went wrong. */
  readonly said: string;
}

export function FileBar(props: FileBarProps) {
  const { language, lineCount, view, setView, rawAddress, externalAddress, said } = props;
  return (
    <div className="file-bar">
      {language !== '' && <span className="bar-fact">{language}</span>}
      {lineCount !== undefined && <span className="bar-fact">{counted(lineCount, 'line')}</span>}
      {view !== undefined && (
        <span className="bar-group">
          <Toggle label="Code" isOn={view === 'code'} toggle={() => setView('code')} />
          <Toggle label="Preview" isOn={view === 'preview'} toggle={() => setView('preview')} />
        </span>
      )}
      {lineCount !== undefined && (
        <Toggle label="Blame" isOn={props.isBlamed} toggle={props.toggleBlame} />
      )}
      <Toggle label="History" isOn={props.isHistoryOpen} toggle={props.toggleHistory} />
      <a href={rawAddress} className="bar-toggle">
        Raw
      </a>
      <MatchSteps {...props.matches} />
      <span className="bar-said" role="status">
        {said}
      </span>
      <span className="bar-group">
        <IconButton label="Copy the link" keys="c" run={props.copyLink}>
          <Link2 size={16} strokeWidth={1.5} aria-hidden />
        </IconButton>
        <IconButton label="Put the commit into the address" keys="y" run={props.pin}>
          <Pin size={16} strokeWidth={1.5} aria-hidden />
        </IconButton>
        {externalAddress !== undefined && (
          <a
            href={externalAddress}
            rel="noopener noreferrer"
            target="_blank"
            className="icon-button"
            aria-label="At the code host"
            title={`At the code host: ${new URL(externalAddress).host}`}
          >
            <ExternalLink size={16} strokeWidth={1.5} aria-hidden />
          </a>
        )}
      </span>
    </div>
  );
}
