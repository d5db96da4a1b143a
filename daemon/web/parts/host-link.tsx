// A link to a page of a code host. Its address is what the host said of itself: only one of the web becomes a link.

import { ExternalLink } from 'lucide-react';
import { ICON } from './icon.ts';

/** Of an address of the web; undefined: it is none. */
function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? host : undefined;
}

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
      aria-label="At the code host"
      title={`At the code host: ${host}`}
    >
      <ExternalLink {...ICON} />
    </a>
  );
}
