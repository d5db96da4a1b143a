// The outline: the symbols of a file in order, each with a link to its line. They come from the index, so a file that
// changed since may have others.

import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { search } from '../../api/search/search-endpoints.ts';
import { call } from '../data/api.ts';
import { useRemembered } from '../data/remembered.ts';
import { Name } from '../parts/visible-text.tsx';
import { useIsPhone } from '../parts/window-width.ts';
import { count } from '../parts/number-format.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { useFileParameters } from './file-parameters.ts';
import { fileQuery } from './search-address.ts';

const SYMBOLS_MAX = 2000;

interface OutlineSymbol {
  readonly name: string;
  readonly kind: string;
  readonly line: number;
}

interface Symbols {
  readonly symbols: readonly OutlineSymbol[];
  /** Are the symbols of this file ready? */
  readonly areComplete: boolean;
  readonly isAll: boolean;
}

async function symbolsOf(target: BrowseTarget, signal: AbortSignal): Promise<Symbols> {
  const { files, isSearchExhaustive, incompleteReasons } = await call<typeof search>(
    '/api/search',
    {
      method: 'POST',
      // Any name, in this file.
      body: { query: `sym:. ${fileQuery(target)}`, matches: SYMBOLS_MAX },
      signal,
      headers: { 'X-Service-Client-Source': 'web-preview' },
    },
  );
  const symbols = files
    .filter((file) => file.repository === target.repo && file.fileName.text === target.path)
    .flatMap(({ chunks }) => chunks)
    .flatMap(({ symbols: own = [], matchRanges }) =>
      own.map(({ symbol, kind }, index) => ({
        name: symbol,
        kind,
        line: matchRanges[index]?.start.lineNumber ?? 1,
      })),
    )
    .toSorted((a, b) => a.line - b.line);
  return {
    symbols,
    areComplete: incompleteReasons?.includes('symbols_missing') !== true,
    isAll: isSearchExhaustive,
  };
}

function useSymbols(target: BrowseTarget) {
  const { repo, revision, path } = target;
  return useQuery({
    queryKey: ['outline', repo, revision, path],
    queryFn: ({ signal }) => symbolsOf(target, signal),
    retry: false,
  });
}

export interface OutlineState {
  readonly isVisible: boolean;
  readonly toggle: () => void;
  /** Closes an outline that covers the text, after a symbol was chosen. */
  readonly leave: (() => void) | undefined;
}

/** Beside the text, visibility is remembered. On phones the outline covers the text and is visible only while open. */
export function useOutline(): OutlineState {
  const isPhone = useIsPhone();
  const [isOpen, setOpen] = useState(false);
  const { isOutlineVisible, set } = useRemembered();
  if (isPhone)
    return { isVisible: isOpen, toggle: () => setOpen(!isOpen), leave: () => setOpen(false) };
  const toggle = () => set({ isOutlineVisible: !isOutlineVisible });
  return { isVisible: isOutlineVisible, toggle, leave: undefined };
}

interface OutlineProps {
  readonly target: BrowseTarget;
  readonly leave: OutlineState['leave'];
}

function Rows({ target, leave, symbols }: Pick<Symbols, 'symbols'> & OutlineProps) {
  const { addressWith } = useFileParameters();
  return (
    <ul className="plain-list">
      {symbols.map(({ name, kind, line }) => (
        <li key={`${line} ${name} ${kind}`}>
          <Link
            href={addressWith(addressOf(target), { highlightRange: String(line) })}
            className="outline-row"
            onClick={leave}
            title={`${kind}, line ${count(line)}`}
          >
            <Name className="outline-name">{name}</Name>
            <span className="faint">{kind}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export function Outline({ target, leave }: OutlineProps) {
  const { data, error } = useSymbols(target);
  return (
    <nav className="outline" aria-label="Outline" tabIndex={0}>
      <h2>Outline</h2>
      {error !== null && <p className="faint">{error.message}</p>}
      {data?.areComplete === false && (
        <p className="faint">The symbols of this repository are not ready yet.</p>
      )}
      {data?.areComplete === true && data.symbols.length === 0 && (
        <p className="faint">No symbols in this file.</p>
      )}
      {data !== undefined && <Rows target={target} leave={leave} symbols={data.symbols} />}
      {data?.isAll === false && data.symbols.length > 0 && (
        <p className="faint">The first {count(data.symbols.length)}.</p>
      )}
    </nav>
  );
}
