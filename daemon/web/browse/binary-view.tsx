// A file that is no text: its size and type, the picture that it is, and the way to its bytes.

import { visibleName } from '../parts/hidden-characters.ts';
import { size } from '../parts/words.ts';
import type { Place } from './address.ts';
import { rawAddress, useRawFacts } from './reading.ts';

export function BinaryView({ place }: { readonly place: Place }) {
  const { data, error } = useRawFacts(place);
  const address = rawAddress(place);
  if (error === null && data === undefined) return null;
  const isPicture = data?.type.startsWith('image/') === true;
  const facts = [
    data?.size === undefined ? undefined : size(data.size),
    data === undefined || data.type === 'application/octet-stream' ? 'binary' : data.type,
  ];
  return (
    <div className="binary">
      {isPicture && <img src={address} alt={visibleName(place.path)} className="picture" />}
      <p className="faint">{facts.filter((fact) => fact !== undefined).join(' · ')}</p>
      <a href={address} className="button">
        Raw
      </a>
    </div>
  );
}
