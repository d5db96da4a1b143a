// The canonical text of a plan, for tests, logs and explain, in the notation of canonical queries (print.ts).

import type { PlanNode } from './plan-tree.ts';
import { quoteText } from './print.ts';
import { writtenRevision } from './revisions.ts';

export function printPlan(plan: PlanNode): string {
  switch (plan.kind) {
    case 'const':
      return plan.value ? 'ALL' : 'NONE';
    case 'and':
    case 'or':
      return `${plan.kind}(${plan.children.map(printPlan).join(', ')})`;
    case 'not':
      return `not(${printPlan(plan.child)})`;
    case 'text':
      return `${plan.isInPath === true ? 'text' : 'content'}:${quoteText(plan.text)}`;
    case 'regex':
      return `regex:/${plan.pattern}/`;
    case 'pathRegex':
      return `file:/${plan.pattern}/`;
    case 'symbol':
    case 'symbolRegex':
      return `sym:/${plan.pattern}/`;
    case 'path': {
      const { text, anchoredStart, anchoredEnd } = plan.literal;
      return `file:${anchoredStart ? '^' : ''}${quoteText(text)}${anchoredEnd ? '$' : ''}`;
    }
    case 'language':
      return `lang:${quoteText(plan.name)}`;
    case 'docs':
      return `rev:${quoteText(writtenRevision(plan.text))}`;
    case 'repos':
      return `repo in ${plan.ids.size}`;
  }
}
