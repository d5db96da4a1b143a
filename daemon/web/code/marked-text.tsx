// A line of text with marks and colours.

import { VisibleText } from '../parts/visible-text.tsx';
import type { Colour, Mark } from './marks.ts';

interface MarkedTextProps {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly colours?: readonly Colour[] | undefined;
  readonly className?: string;
  /** As in `VisibleText`. */
  readonly isName?: boolean;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly isMarked: boolean;
  readonly colour: string | undefined;
}

/** Cuts the text wherever a mark or colour begins or ends. A mark keeps its own colour. */
function spansOf({ text, marks, colours = [] }: MarkedTextProps): Span[] {
  const borders = [
    0,
    text.length,
    ...marks.flatMap(({ from, to }) => [from, to]),
    ...colours.flatMap(({ from, to }) => [from, to]),
  ];
  const cuts = [...new Set(borders)].filter((at) => at <= text.length).toSorted((a, b) => a - b);
  return cuts.slice(1).map((to, index) => {
    const from = cuts[index] ?? 0;
    const isMarked = marks.some((mark) => mark.from <= from && to <= mark.to);
    const colour = isMarked
      ? undefined
      : colours.find((one) => one.from <= from && to <= one.to)?.name;
    return { from, to, isMarked, colour };
  });
}

export function MarkedText(props: MarkedTextProps) {
  const { text, className, isName } = props;
  return (
    <span className={className}>
      {spansOf(props).map(({ from, to, isMarked, colour }) => {
        const content = <VisibleText text={text.slice(from, to)} isName={isName} />;
        if (isMarked) return <mark key={from}>{content}</mark>;
        return (
          <span key={from} className={colour}>
            {content}
          </span>
        );
      })}
    </span>
  );
}
