// The lower panel with the definitions or references of a name, in this repository or in all.

import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { unitsIn } from '../code/columns.ts';
import { cutLine } from '../code/cut-line.ts';
import { LineText } from '../code/line-text.tsx';
import type { Mark } from '../code/marks.ts';
import { visibleLine } from '../parts/hidden-characters.ts';
import { useKeys } from '../parts/keys.ts';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { count } from '../parts/number-format.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import { belowBase } from '../data/base-path.ts';
import type { BrowseTarget } from './address.ts';
import { useFileParameters } from './file-parameters.ts';
import { Panel } from './panel.tsx';
import type { Panels } from './panels.ts';
import { explorationText, lacksSymbols, useOccurrences } from './symbols.ts';
import type { Exploration, FoundFile, Occurrences, OccurrencesThere } from './symbols.ts';

interface Line {
  readonly number: number;
  readonly text: string;
  readonly marks: Mark[];
}

/** In file order, each line once. */
function linesOf({ matches }: FoundFile): Line[] {
  const lines = new Map<number, Line>();
  for (const { lineContent, range } of matches) {
    const { start, end } = range;
    const text = lineContent.split(/\r?\n/)[0] ?? '';
    const line = lines.get(start.lineNumber) ?? { number: start.lineNumber, text, marks: [] };
    const units = unitsIn(text);
    const from = units(start.column);
    const to = end.lineNumber > start.lineNumber ? text.length : units(end.column);
    line.marks.push({ from, to });
    lines.set(line.number, line);
  }
  return [...lines.values()].toSorted((a, b) => a.number - b.number);
}

/** Moves the focus by one row. @returns  false: the focus is outside the list */
function moveInRows(list: HTMLElement | null, by: 1 | -1): boolean {
  if (list === null || !list.contains(document.activeElement)) return false;
  const rows = [...list.querySelectorAll<HTMLElement>('.explore-row')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
  return true;
}

interface FileRowsProps {
  readonly file: FoundFile;
  readonly addressWith: AddressParameters['addressWith'];
}

/** A row's link keeps the panel open. */
function FileRows({ file, addressWith }: FileRowsProps) {
  return (
    <section className="explore-file">
      <h3 className="explore-file-name">
        <Name>{file.repository}</Name> ▸ <Name>{file.fileName}</Name>{' '}
        <span className="faint">{count(file.matches.length)}</span>
      </h3>
      {linesOf(file).map(({ number, text, marks }) => (
        <Link
          key={number}
          href={addressWith(belowBase(file.webUrl), { highlightRange: String(number) })}
          className="result-line explore-row"
          aria-label={`line ${number}: ${visibleLine(cutLine(text.trim(), []).text)}`}
        >
          <span className="line-number">{number}</span>
          <LineText className="line-text" {...cutLine(text, marks)} />
        </Link>
      ))}
    </section>
  );
}

/** The number of matches, and whether there may be more. */
function amount(found: Occurrences): string {
  const { stats, isSearchExhaustive } = found;
  const said = count(stats.matchCount);
  if (stats.matchCount === 0 && lacksSymbols(found)) return '(symbols missing)';
  return isSearchExhaustive || stats.matchCount === 0 ? said : `first ${said}`;
}

/** A warning about incomplete definitions; undefined: none. It shows in both tabs. */
function remarkOf(definitions: OccurrencesThere | undefined): string | undefined {
  if (definitions === undefined) return undefined;
  if (definitions.isOfDefault)
    return 'Definitions come from the default revision. This revision has no symbols yet.';
  return lacksSymbols(definitions)
    ? 'Some definitions may be missing. Symbols are not ready in every repository yet.'
    : undefined;
}

interface FoundProps extends Omit<FileRowsProps, 'file'> {
  readonly found: OccurrencesThere;
  readonly remark: string | undefined;
}

function Found({ found, remark, ...rest }: FoundProps) {
  return (
    <>
      {remark !== undefined && <p className="explore-remark">{remark}</p>}
      {found.files.length === 0 && <p className="empty">Nothing found.</p>}
      {found.files.map((file) => (
        <FileRows key={`${file.repositoryId}:${file.fileName}`} file={file} {...rest} />
      ))}
    </>
  );
}

interface ExplorePanelProps {
  readonly target: BrowseTarget;
  readonly exploration: Exploration;
  readonly panels: Panels;
}

export function ExplorePanel({ target, exploration, panels }: ExplorePanelProps) {
  const { addressWith, change } = useFileParameters();
  const body = useRef<HTMLDivElement>(null);
  const { kind: displayedKind, name } = exploration;
  const where = panels.isWide ? undefined : target;
  const definitions = useOccurrences({ kind: 'definitions', name }, where);
  const references = useOccurrences({ kind: 'references', name }, where);
  const symbols = displayedKind === 'definitions' ? definitions : references;
  useEffect(() => body.current?.focus(), [name]);
  useKeys({
    nextPlace: () => moveInRows(body.current, 1),
    previousPlace: () => moveInRows(body.current, -1),
  });
  const tab = (kind: Exploration['kind'], label: string, found: Occurrences | undefined) => (
    <button
      type="button"
      className="panel-tab"
      aria-pressed={displayedKind === kind}
      onClick={() => change({ explore: explorationText({ kind, name }) })}
    >
      {label} {found !== undefined && amount(found)}
    </button>
  );
  return (
    <Panel
      title={name}
      close={panels.close}
      body={body}
      head={
        <>
          {tab('definitions', 'Definitions', definitions.data)}
          {tab('references', 'References', references.data)}
          <label className="panel-choice">
            <input type="checkbox" checked={panels.isWide} onChange={panels.toggleWidth} />
            All repositories
          </label>
        </>
      }
    >
      {symbols.error !== null && <Notice kind="danger" title={symbols.error.message} />}
      {symbols.data !== undefined && (
        <Found found={symbols.data} remark={remarkOf(definitions.data)} addressWith={addressWith} />
      )}
    </Panel>
  );
}
