// The open panel below a file, as the address names it.

import { useFileParameters } from './file-parameters.ts';
import { explorationOf } from './symbols.ts';

/** @param onClose  returns the focus */
export function usePanels(onClose: () => void) {
  const { valueOf, change } = useFileParameters();
  const exploration = explorationOf(valueOf('explore'));
  const isHistoryOpen = exploration === undefined && valueOf('panel') === 'history';
  const isWide = valueOf('scope') === 'all';
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
