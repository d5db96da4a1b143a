// A line of a card, linked to its place in the file. A click follows the link, a drag selects text.

import { Link } from 'wouter';
import type { Colour } from '../code/marks.ts';
import { LineText } from '../code/line-text.tsx';
import { visibleLine } from '../parts/hidden-characters.ts';
import { addressOf } from './result-address.ts';
import type { ResultFile, ResultLine } from './rows.ts';

interface LineRowProps {
  readonly file: ResultFile;
  readonly line: ResultLine;
  readonly colours: readonly Colour[] | undefined;
}

export function LineRow({ file, line, colours }: LineRowProps) {
  const { number, text, marks, cut, kinds } = line;
  const kind = kinds.join(', ');
  return (
    <Link
      href={addressOf(file, line)}
      className="result-line"
      draggable={false}
      data-line={number}
      data-match={marks.length > 0 ? '' : undefined}
      aria-label={`line ${number}${kind === '' ? '' : `, ${kind}`}: ${visibleLine(text)}`}
      onClick={(event) => {
        // Text is selected: the click ended a drag.
        if (getSelection()?.isCollapsed === false) event.preventDefault();
      }}
    >
      <span className="line-number">{number}</span>
      <LineText className="line-text" text={text} marks={marks} cut={cut} colours={colours} />
      {kind !== '' && <span className="line-kind">{kind}</span>}
    </Link>
  );
}
