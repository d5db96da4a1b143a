// Opens and closes the plan; its state is in the address (`plan=1`).

import { lazy, Suspense } from 'react';
import { setParameter, useParameters } from '../data/parameters.ts';

const PlanPanel = lazy(() => import('./plan-panel.tsx'));

function usePlan() {
  const parameters = useParameters();
  const isOpen = parameters.get('plan') === '1';
  const toggle = (): void => setParameter('plan', isOpen ? undefined : '1', { replace: true });
  return { isOpen, toggle };
}

export function PlanButton() {
  const { isOpen, toggle } = usePlan();
  return (
    <button
      type="button"
      className="icon-button toolbar-text"
      aria-expanded={isOpen}
      onClick={toggle}
    >
      Plan
    </button>
  );
}

/** The plan below the summary, if it is open. */
export function Plan() {
  const { isOpen } = usePlan();
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <PlanPanel />
    </Suspense>
  );
}
