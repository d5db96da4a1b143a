// Text of a repository or of a person as it stands. Always text nodes: nothing of it is ever markup. Characters that cannot be
// seen, or that change the order of text, are drawn as a boxed code; the order of what stands around a name is its own.

import { Fragment } from 'react';
import type { HTMLAttributes } from 'react';
import { HIDDEN, HIDDEN_IN_NAME, codeOf, visibleName } from './hidden-characters.ts';

interface VisibleTextProps {
  readonly text: string;
  /** Is it all on one line, so that tabs and newlines are hidden characters? */
  readonly isName?: boolean | undefined;
}

export function VisibleText({ text, isName = false }: VisibleTextProps) {
  const hidden = isName ? HIDDEN_IN_NAME : HIDDEN;
  if (!hidden.test(text)) return text;
  return text.split(hidden).map((piece, index) =>
    index % 2 === 0 ? (
      <Fragment key={index}>{piece}</Fragment>
    ) : (
      <span key={index} className="hidden-character" title={codeOf(piece)} data-text={piece}>
        {codeOf(piece)}
      </span>
    ),
  );
}

interface NameProps extends Omit<HTMLAttributes<HTMLElement>, 'children'> {
  readonly children: string;
}

/** A name: of a file, a person, a branch, whatever somebody chose. */
export function Name({ children, title, ...rest }: NameProps) {
  return (
    <bdi {...rest} {...(title === undefined ? {} : { title: visibleName(title) })}>
      <VisibleText text={children} isName />
    </bdi>
  );
}

/** What a letter takes, about, of the room that a digit takes. */
const LETTER_WIDTH = 0.8;

/** Names of which each holds the next, as a name: where there is no room the last is seen, and those before it are cut. */
export function CutName({ children, className = '', title, ...rest }: NameProps) {
  const cut = Math.max(0, children.lastIndexOf('/', children.length - 2));
  const width: Readonly<Record<string, string>> = {
    '--own-width-tail': `${(children.length - cut) * LETTER_WIDTH}ch`,
  };
  return (
    <bdi
      {...rest}
      className={`cut-name ${className}`}
      style={width}
      {...(title === undefined ? {} : { title: visibleName(title) })}
    >
      <span className="cut-head">
        <VisibleText text={children.slice(0, cut)} isName />
      </span>
      <VisibleText text={children.slice(cut)} isName />
    </bdi>
  );
}
