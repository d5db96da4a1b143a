// A button that is a picture, with its name and keys.

import type { LucideIcon } from 'lucide-react';
import { ICON } from './icon.ts';

interface IconButtonProps {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
  /** What to press instead, or another word on it. */
  readonly hint?: string;
  readonly className?: string;
  /** Does it fold something, and is that open? */
  readonly isExpanded?: boolean;
}

export function IconButton({ label, icon: Icon, run, ...rest }: IconButtonProps) {
  const { hint, className = '', isExpanded } = rest;
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      aria-label={label}
      aria-expanded={isExpanded}
      title={hint === undefined ? label : `${label} (${hint})`}
      onClick={run}
    >
      <Icon {...ICON} />
    </button>
  );
}
