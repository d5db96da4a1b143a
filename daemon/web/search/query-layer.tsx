// The colours of the query: prefixes, quotes, patterns, operators and the syntax error. Drawn behind the field, whose
// text is transparent.

import { type QueryWord, textOfWord, wordsOf } from '../../engine/query/query-tokens.ts';

interface QueryLayerProps {
  readonly text: string;
  readonly isRegexEnabled: boolean;
  /** Position of a syntax error in code points; undefined: none known. */
  readonly fault: number | undefined;
}

/** Longer queries have no colours. */
const COLOURED_MAX = 2000;

function classOf({ kind, isQuoted, prefix }: QueryWord, isRegexEnabled: boolean): string {
  if (kind === 'prefix') return 'query-prefix';
  if (kind === 'operator') return 'query-operator';
  if (isQuoted) return 'query-quoted';
  const isExpression = prefix === undefined ? isRegexEnabled : prefix.kind === 'pattern';
  return isExpression ? 'query-expression' : '';
}

/** A stretch of text in one style. */
interface Span {
  readonly start: number;
  readonly text: string;
  readonly name: string;
}

function spansOf({ text, isRegexEnabled, fault }: QueryLayerProps): Span[] {
  const size = Array.from(text).length;
  const words = size > COLOURED_MAX ? [] : wordsOf(text, isRegexEnabled);
  const spans: Span[] = [];
  let next = 0;
  const add = (start: number, end: number, name: string): void => {
    const isFaulty = fault !== undefined && start <= fault && fault < end;
    const className = isFaulty ? `${name} query-fault` : name;
    if (start < end) spans.push({ start, text: textOfWord(text, { start, end }), name: className });
    next = end;
  };
  for (const word of words) {
    add(next, word.start, '');
    add(word.start, word.end, classOf(word, isRegexEnabled));
  }
  add(next, size, '');
  // Marks the end of the query, where something is missing.
  if (fault !== undefined && fault >= size)
    spans.push({ start: size, text: '\u00A0', name: 'query-fault' });
  return spans;
}

export function QueryLayer(props: QueryLayerProps) {
  return (
    <span className="box-layer-text">
      <span>
        {spansOf(props).map(({ start, text, name }) => (
          <span key={start} className={name}>
            {text}
          </span>
        ))}
      </span>
    </span>
  );
}
