// Chooses a revision: a branch or tag by part of its name, or any commit id that is typed.

import {
  Combobox,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  Popover,
  PopoverDisclosure,
  PopoverProvider,
} from '@ariakit/react';
import { GitBranch } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ICON } from '../parts/icon.ts';
import { Name } from '../parts/visible-text.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { useRefs } from './file-queries.ts';

/** Commit ids are shortened. */
function shortName(revision: string): string {
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 7) : revision;
}

export function RevisionPicker({ target }: { readonly target: BrowseTarget }) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const { data } = useRefs(target.repo, text, isOpen);
  const choose = (revision: string | undefined): void => {
    setOpen(false);
    navigate(addressOf({ ...target, revision }));
  };
  const isTyped = ({ shortName }: { readonly shortName: string }): boolean => shortName === text;
  // Return takes the first: what was typed in full.
  const refs = (data?.items ?? []).toSorted((a, b) => Number(isTyped(b)) - Number(isTyped(a)));
  const isListed = refs.some(isTyped);
  return (
    <PopoverProvider open={isOpen} setOpen={setOpen}>
      <PopoverDisclosure className="button">
        <GitBranch {...ICON} />
        <Name
          title={target.revision}
          className={target.revision === undefined ? 'revision-default' : undefined}
        >
          {shortName(target.revision ?? 'default')}
        </Name>
      </PopoverDisclosure>
      <Popover className="popover" gutter={4} aria-label="Revision" portal>
        <ComboboxProvider value={text} setValue={setText}>
          <Combobox className="input" placeholder="Branch, tag or commit" autoSelect autoFocus />
          <ComboboxList className="popover-list" alwaysVisible>
            {text === '' && (
              <ComboboxItem className="popover-item" value="" onClick={() => choose(undefined)}>
                default
              </ComboboxItem>
            )}
            {refs.map((ref) => (
              <ComboboxItem
                key={ref.name}
                className="popover-item"
                value={ref.shortName}
                setValueOnClick={false}
                onClick={() => choose(ref.isAmbiguous ? ref.name : ref.shortName)}
              >
                <Name>{ref.shortName}</Name>
                <span className="faint">
                  {ref.kind}
                  {ref.isIndexed ? '' : ', not indexed'}
                </span>
              </ComboboxItem>
            ))}
            {text !== '' && !isListed && (
              <ComboboxItem className="popover-item" value={text} onClick={() => choose(text)}>
                <Name>{text}</Name>
                <span className="faint">as typed</span>
              </ComboboxItem>
            )}
          </ComboboxList>
        </ComboboxProvider>
      </Popover>
    </PopoverProvider>
  );
}
