// Opens and closes the plan, which lives in the address (`plan=1`).

import { lazy, Suspense } from 'react';
import { changeParameters, useParameters } from '../data/parameters.ts';

const PlanPanel = lazy(() => import('./plan-panel.tsx'));

function usePlan() {
  const parameters = useParameters();
  const isOpen = parameters.get('plan') === '1';
  const toggle = (): void =>
    changeParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (isOpen) after.delete('plan');
        else after.set('plan', '1');
        return after;
      },
      { replace: true },
    );
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

/** The plan below the summary, where it was asked for. */
export function Plan() {
  const { isOpen } = usePlan();
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <PlanPanel />
    </Suspense>
  );
}
