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
  return text.split(hidden).map((part, index) =>
    index % 2 === 0 ? (
      <Fragment key={index}>{part}</Fragment>
    ) : (
      <span key={index} className="hidden-character" title={codeOf(part)} data-text={part}>
        {codeOf(part)}
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
