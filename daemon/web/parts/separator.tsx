// The border between two panels: dragged, moved by arrow keys, put back by a double click.

import type { KeyboardEvent, PointerEvent } from 'react';

interface SeparatorProps {
  readonly label: string;
  /** Share of the second panel, in %. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly initial: number;
  readonly onChange: (value: number) => void;
}

/** % that an arrow key moves it. */
const STEP = 2;

export function Separator({ label, value, min, max, initial, onChange }: SeparatorProps) {
  const set = (wanted: number): void => onChange(Math.min(max, Math.max(min, Math.round(wanted))));
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    const whole = event.currentTarget.parentElement?.getBoundingClientRect();
    if (whole === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    set((100 * (whole.right - event.clientX)) / whole.width);
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(value + step);
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
