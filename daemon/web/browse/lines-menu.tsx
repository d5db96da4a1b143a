// A menu for the linked lines or the selected text: copy the link or text, search for the text, find references.

import { Menu, MenuButton, MenuItem, MenuProvider } from '@ariakit/react';
import { ChevronDown } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { unitsIn } from '../code/columns.ts';
import { type LineRange, rangeText } from '../code/line-range.ts';
import { copyText } from '../parts/clipboard.ts';
import { ICON } from '../parts/icon.ts';

/** The text of a range. Columns are in code points. */
export function textOf(lines: readonly string[], range: LineRange): string {
  const { from, to, fromColumn, toColumn } = range;
  const chosen = lines.slice(from - 1, to);
  const last = chosen.length - 1;
  return chosen
    .map((line, index) => {
      const units = unitsIn(line);
      const start = index === 0 ? units(fromColumn ?? 1) : 0;
      return line.slice(
        start,
        index === last && toColumn !== undefined ? units(toColumn) : undefined,
      );
    })
    .join('\n');
}

/** UTF-16 units; a longer selection is not offered as a query. */
const WORDS_SIZE_MAX = 1000;

/** Literal text as a query. */
function literal(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

interface LinesMenuProps {
  readonly range: LineRange;
  readonly text: string;
  readonly copyLink: () => void;
  readonly explore: (name: string) => void;
}

export function LinesMenu({ range, text, copyLink, explore }: LinesMenuProps) {
  const [, navigate] = useLocation();
  const { from, to } = range;
  const isOne = from === to;
  const written = rangeText(range);
  // `written` identifies the range.
  const chosen = useMemo(() => textOf(text.split(/\r?\n/), range), [text, written]);
  const words = isOne && chosen.length < WORDS_SIZE_MAX ? chosen.trim() : '';
  const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(words);
  return (
    <MenuProvider>
      <MenuButton className="bar-toggle lines-button">
        {isOne ? `Line ${written}` : `Lines ${written}`}
        <ChevronDown {...ICON} />
      </MenuButton>
      <Menu className="popover lines-menu" gutter={4}>
        <MenuItem className="popover-item" onClick={copyLink}>
          Copy link
        </MenuItem>
        <MenuItem className="popover-item" onClick={() => void copyText(chosen, 'Text')}>
          Copy text
        </MenuItem>
        {words !== '' && (
          <MenuItem
            className="popover-item"
            onClick={() =>
              navigate(`/search?${new URLSearchParams({ query: literal(words) }).toString()}`)
            }
          >
            Search for this text
          </MenuItem>
        )}
        {isName && (
          <MenuItem className="popover-item" onClick={() => explore(words)}>
            References to {words}
          </MenuItem>
        )}
      </Menu>
    </MenuProvider>
  );
}
