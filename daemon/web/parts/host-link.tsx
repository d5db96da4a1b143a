// A link to a page of a code host. The address comes from the host: only http and https become a link.

import { ExternalLink } from 'lucide-react';
import { ICON } from './icon.ts';
import { hostOf } from './web-address.ts';

interface HostLinkProps {
  /** Undefined: there is no such page. */
  readonly address: string | undefined;
  readonly className?: string;
}

export function HostLink({ address, className }: HostLinkProps) {
  const host = address === undefined ? undefined : hostOf(address);
  if (host === undefined) return null;
  return (
    <a
      href={address}
      rel="noopener noreferrer"
      target="_blank"
      className={className}
      aria-label="Open at code host"
      title={`Open at ${host}`}
    >
      <ExternalLink {...ICON} />
    </a>
  );
}
