// The hover card of a name: its definition, and links to definition and references.

import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { cutLine } from '../code/cut-line.ts';
import type { NameLocation, ShowCard } from '../code/names.ts';
import { queryClient } from '../data/session.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { counted } from '../parts/number-format.ts';
import type { BrowseTarget } from './address.ts';
import { lacksSymbols, type Occurrences, useDefinitionsAt } from './symbols.ts';

export interface NameActions {
  readonly goToDefinition: (at: NameLocation) => void;
  readonly findReferences: (name: string) => void;
}

interface NameCardProps extends NameActions {
  readonly target: BrowseTarget;
  readonly language: string;
  readonly at: NameLocation;
}

function Preview({ found }: { readonly found: Occurrences }) {
  const [file] = found.files;
  const [match] = file?.matches ?? [];
  const all = found.stats.matchCount;
  if (file === undefined || match === undefined) {
    const reason = lacksSymbols(found) ? '. Symbols are not ready yet' : '';
    return <p className="faint">No definition found{reason}.</p>;
  }
  return (
    <>
      <p className="name-card-place">
        <Name>{file.fileName}</Name>
        <span className="faint">
          {' '}
          line {match.range.start.lineNumber}
          {all > 1 && ` · ${counted(all, 'definition')}`}
        </span>
      </p>
      <pre className="name-card-code">
        <VisibleText text={cutLine(match.lineContent.trim(), []).text} />
      </pre>
    </>
  );
}

function NameCard({ target, language, at, goToDefinition, findReferences }: NameCardProps) {
  const { data, error } = useDefinitionsAt(target, language, at);
  return (
    <>
      <strong className="name-card-name">
        <Name>{at.name}</Name>
      </strong>
      {error !== null && <p className="danger">{error.message}</p>}
      {data === undefined ? <p className="faint">&nbsp;</p> : <Preview found={data} />}
      <div className="name-card-actions">
        <button type="button" className="link-button" onClick={() => goToDefinition(at)}>
          Definition <kbd>d</kbd>
        </button>
        <button type="button" className="link-button" onClick={() => findReferences(at.name)}>
          References <kbd>r</kbd>
        </button>
      </div>
    </>
  );
}

/** CodeMirror draws the cards, outside the React tree of the page. */
export function cardsOf(target: BrowseTarget, language: string, actions: NameActions): ShowCard {
  return (element, at) => {
    const root = createRoot(element);
    root.render(
      <QueryClientProvider client={queryClient}>
        <NameCard target={target} language={language} at={at} {...actions} />
      </QueryClientProvider>,
    );
    // Why later: React may be removing the card right now, and cannot unmount a root while it renders.
    return () => queueMicrotask(() => root.unmount());
  };
}
