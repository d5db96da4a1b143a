// Asks for confirmation before the user leaves a page with unsaved data. Navigation inside the page opens a dialog, in
// browsers that have the Navigation API; if the whole page would unload, the browser asks.

import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';
import { ConfirmDialog } from './confirm.tsx';

/** Continues the stopped navigation. */
type Leave = () => void;

/** The navigation that was stopped; undefined: none. */
function useStopped(): readonly [leave: Leave | undefined, drop: () => void] {
  const [leave, setLeave] = useState<Leave>();
  const [, navigate] = useLocation();
  useEffect(() => {
    let isLeaving = false;
    const stop = (event: NavigateEvent): void => {
      if (isLeaving || !event.cancelable || !event.destination.sameDocument) return;
      event.preventDefault();
      const { url, key } = event.destination;
      const isTraversal = event.navigationType === 'traverse';
      setLeave(() => () => {
        isLeaving = true;
        if (isTraversal) window.navigation.traverseTo(key);
        else navigate(url.slice(`${location.origin}${BASE_PATH}`.length));
      });
    };
    const refuse = (event: BeforeUnloadEvent): void => event.preventDefault();
    const { navigation }: Partial<Window> = window;
    navigation?.addEventListener('navigate', stop);
    addEventListener('beforeunload', refuse);
    return () => {
      navigation?.removeEventListener('navigate', stop);
      removeEventListener('beforeunload', refuse);
    };
  }, [navigate]);
  return [leave, () => setLeave(undefined)];
}

interface ConfirmLeavingProps {
  readonly title: string;
  readonly text: string;
}

/** Active while it is rendered. */
export function ConfirmLeaving({ title, text }: ConfirmLeavingProps) {
  const [leave, drop] = useStopped();
  if (leave === undefined) return null;
  return <ConfirmDialog title={title} text={text} label="Leave" run={leave} close={drop} />;
}
