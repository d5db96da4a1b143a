// A relative time, with the exact one on hover.

import { relativeTime } from './number-format.ts';

const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

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
      {relativeTime(date)}
    </time>
  );
}
