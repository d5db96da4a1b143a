// A button with an icon, a name and a key.

import type { LucideIcon } from 'lucide-react';
import { ICON } from './icon.ts';

interface IconButtonProps {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
  /** The key to press, or other extra text. */
  readonly hint?: string;
  readonly className?: string;
  /** For a button that folds something: is it open? */
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
