// The panel below a file: occurrences of a name, or the file's history. One at a time.

import type { BrowseTarget } from './address.ts';
import { ExplorePanel } from './explore-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import type { Panels } from './panels.ts';

interface FilePanelsProps {
  readonly target: BrowseTarget;
  readonly panels: Panels;
}

export function FilePanels({ target, panels }: FilePanelsProps) {
  const { exploration, isHistoryOpen, close } = panels;
  if (exploration !== undefined)
    return <ExplorePanel target={target} exploration={exploration} panels={panels} />;
  return isHistoryOpen ? <HistoryPanel target={target} close={close} /> : null;
}
