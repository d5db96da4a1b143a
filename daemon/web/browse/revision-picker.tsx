// Chooses the revision: branches and tags by a part of their names, or any commit that is typed.

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
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { useRefs } from './reading.ts';

/** Ids of commits by their first digits. */
function shortName(revision: string): string {
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 7) : revision;
}

export function RevisionPicker({ place }: { readonly place: Place }) {
  const [isOpen, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const [, navigate] = useLocation();
  const { data } = useRefs(place.repo, wanted, isOpen);
  const choose = (revision: string | undefined): void => {
    setOpen(false);
    navigate(addressOf({ ...place, revision }));
  };
  const refs = data?.items ?? [];
  const isKnown = refs.some(({ shortName }) => shortName === wanted);
  return (
    <PopoverProvider open={isOpen} setOpen={setOpen}>
      <PopoverDisclosure className="button">
        <GitBranch {...ICON} />
        <Name
          title={place.revision}
          className={place.revision === undefined ? 'revision-default' : undefined}
        >
          {shortName(place.revision ?? 'default')}
        </Name>
      </PopoverDisclosure>
      <Popover className="popover" gutter={4} aria-label="Revision" portal>
        <ComboboxProvider value={wanted} setValue={setWanted}>
          <Combobox className="input" placeholder="Branch, tag or commit" autoSelect autoFocus />
          <ComboboxList className="popover-list" alwaysVisible>
            {wanted === '' && (
              <ComboboxItem className="popover-item" value="" onClick={() => choose(undefined)}>
                default
              </ComboboxItem>
            )}
            {refs.map(({ name, shortName, kind, isIndexed }) => (
              <ComboboxItem
                key={name}
                className="popover-item"
                value={shortName}
                setValueOnClick={false}
                onClick={() => choose(shortName)}
              >
                <Name>{shortName}</Name>
                <span className="faint">
                  {kind}
                  {isIndexed ? '' : ', not indexed'}
                </span>
              </ComboboxItem>
            ))}
            {wanted !== '' && !isKnown && (
              <ComboboxItem className="popover-item" value={wanted} onClick={() => choose(wanted)}>
                <Name>{wanted}</Name>
                <span className="faint">as it is typed</span>
              </ComboboxItem>
            )}
          </ComboboxList>
        </ComboboxProvider>
      </Popover>
    </PopoverProvider>
  );
}
