// A relative time, with the exact one on hover.

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

function words(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1000;
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  return 'just now';
}

/** @param at  ISO 8601; null or undefined displays `never` */
export function When({
  at,
  never = 'never',
}: {
  readonly at: string | null | undefined;
  readonly never?: string;
}) {
  if (at === null || at === undefined) return <span className="faint">{never}</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={EXACT.format(date)}>
      {words(date)}
    </time>
  );
}
