// Text from a repository or a user. It becomes text nodes only, never markup. Invisible characters and those that
// change the order of text appear as a boxed code; a name cannot change the order of the text around it.

import { Fragment, type HTMLAttributes } from 'react';
import { HIDDEN, HIDDEN_IN_NAME, codeOf, visibleName } from './hidden-characters.ts';

interface VisibleTextProps {
  readonly text: string;
  /** Is it a single line, in which tabs and newlines are hidden characters? */
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

/** A name that a user chose: of a file, a person, a branch. */
export function Name({ children, title, ...rest }: NameProps) {
  return (
    <bdi {...rest} {...(title === undefined ? {} : { title: visibleName(title) })}>
      <VisibleText text={children} isName />
    </bdi>
  );
}
