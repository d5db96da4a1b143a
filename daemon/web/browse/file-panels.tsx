// The panel below a file: places of a name, or its history; one at a time.

import type { Place } from './address.ts';
import { ExplorePanel } from './explore-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import type { Panels } from './panels.ts';

interface FilePanelsProps {
  readonly place: Place;
  readonly panels: Panels;
}

export function FilePanels({ place, panels }: FilePanelsProps) {
  const { exploration, isHistoryOpen, close } = panels;
  if (exploration !== undefined)
    return <ExplorePanel place={place} exploration={exploration} panels={panels} />;
  return isHistoryOpen ? <HistoryPanel place={place} close={close} /> : null;
}
