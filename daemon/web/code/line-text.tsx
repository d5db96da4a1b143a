// A line of code in a list, cut if it is too long; the link around it leads to the whole line.

import { size } from '../parts/number-format.ts';
import type { CutText } from './cut-line.ts';
import { MarkedText } from './marked-text.tsx';
import type { Colour } from './marks.ts';

interface LineTextProps extends CutText {
  readonly className: string;
  /** Of the displayed text. */
  readonly colours?: readonly Colour[] | undefined;
}

export function LineText({ className, text, marks, cut, colours }: LineTextProps) {
  return (
    <>
      {cut !== undefined && cut.from > 0 && <span className="line-cut">…</span>}
      <MarkedText className={className} text={text} marks={marks} colours={colours} />
      {cut !== undefined && (
        <span className="line-cut">
          {cut.from + text.length < cut.lineLength && '… '}
          line of {size(cut.lineLength)}, show
        </span>
      )}
    </>
  );
}
