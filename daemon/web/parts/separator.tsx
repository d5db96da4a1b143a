// The border between two panels. It moves by dragging and arrow keys; a double click resets it.

import type { KeyboardEvent, PointerEvent } from 'react';

interface SeparatorProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  /** The value for a border at `x` (px of the window), inside the element that contains both panels. */
  readonly valueAt: (x: number, whole: DOMRect) => number;
  /** Added by the right arrow key. */
  readonly step: number;
  readonly onChange: (value: number) => void;
}

/** For a value that is the second panel's share in %. */
export const SHARE_OF_SECOND = {
  valueAt: (x: number, { right, width }: DOMRect): number => (100 * (right - x)) / width,
  step: -2,
};

/** For a value that is the first panel's width in px. */
export const WIDTH_OF_FIRST = {
  valueAt: (x: number, { left }: DOMRect): number => x - left,
  step: 16,
};

export function Separator(props: SeparatorProps) {
  const { label, value, min, max, initial, valueAt, step, onChange } = props;
  const set = (requested: number): void =>
    onChange(Math.min(max, Math.max(min, Math.round(requested))));
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    const whole = event.currentTarget.parentElement?.getBoundingClientRect();
    if (whole === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    set(valueAt(event.clientX, whole));
  };
  const press = (event: KeyboardEvent): void => {
    const moved = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    set(value + moved);
  };
  return (
    <div
      className="separator"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={press}
      onDoubleClick={() => set(initial)}
    />
  );
}
