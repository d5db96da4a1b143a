// Which panel is open below a file, as the address says.

import { useParameters } from './parameters.ts';
import { explorationOf } from './symbols.ts';

/** @param onClose  focus goes back to where it was */
export function usePanels(onClose: () => void) {
  const { parameters, change } = useParameters();
  const exploration = explorationOf(parameters.get('explore'));
  const isHistoryOpen = exploration === undefined && parameters.get('panel') === 'history';
  const isWide = parameters.get('scope') === 'all';
  return {
    exploration,
    isHistoryOpen,
    isWide,
    toggleWidth: () => change({ scope: isWide ? undefined : 'all' }),
    toggleHistory: () =>
      change({ panel: isHistoryOpen ? undefined : 'history', explore: undefined }),
    close: () => {
      change({ panel: undefined, explore: undefined, scope: undefined });
      onClose();
    },
  };
}

export type Panels = ReturnType<typeof usePanels>;
