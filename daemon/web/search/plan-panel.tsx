// The plan of a search (`plan=1`): a funnel of shards, files, blocks and bytes, and the tree of conditions. Users who
// may not explain searches see only the statistics of the answer. A separate chunk.

import { skipToken, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConditionNode, Explanation } from '../../api/search/explain-schemas.ts';
import type { explainSearch } from '../../api/search/search-endpoints.ts';
import { call } from '../data/api.ts';
import { useAccount } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { count, counted } from '../parts/number-format.ts';
import type { Search } from './messages.ts';
import { bytesText, funnelOf, type Stage, type Stats } from './plan-funnel.ts';
import { useSearch } from './search-store.ts';

/** Levels of conditions that are drawn; deeper ones are counted. */
const DEPTH_MAX = 6;

/** The explanation of a search; undefined: loading, or not allowed for this user. */
function useExplanation(search: Search | undefined): Explanation | undefined {
  const { data: account } = useAccount();
  const canExplain = account !== undefined && (account.user !== null || account.source === 'local');
  const { data } = useQuery({
    queryKey: ['explain', search],
    queryFn:
      search === undefined || !canExplain
        ? skipToken
        : ({ signal }) =>
            call<typeof explainSearch>('/api/explain', {
              method: 'POST',
              body: { whole: false, ...search },
              signal,
            }),
    retry: false,
  });
  return data;
}

function Bar({ stage }: { readonly stage: Stage }) {
  const share = stage.total === 0 ? 0 : stage.part / stage.total;
  return (
    <li className="plan-stage">
      <span className="plan-name">{stage.name}</span>
      <svg className="plan-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
        <rect className="plan-all" width="100" height="8" />
        <rect
          className="plan-part"
          width={Math.max(share * 100, stage.part > 0 ? 0.5 : 0)}
          height="8"
        />
      </svg>
      <span className="plan-words">{stage.words}</span>
    </li>
  );
}

function StageTable({ stages }: { readonly stages: readonly Stage[] }) {
  return (
    <table className="plan-table">
      <thead>
        <tr>
          <th scope="col">Stage</th>
          <th scope="col">Searched</th>
          <th scope="col">Total</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {stages.map(({ name, part, total, words }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{count(part)}</td>
            <td>{count(total)}</td>
            <td>{words}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function wordsOf(condition: ConditionNode): string {
  switch (condition.kind) {
    case 'all':
      return 'every file';
    case 'none':
      return 'nothing can match';
    case 'filter':
    case 'content':
      return condition.condition;
    default:
      return condition.kind;
  }
}

function factsOf(condition: ConditionNode): string {
  if (condition.kind === 'filter')
    return condition.docs === undefined ? '' : `leaves ${counted(condition.docs, 'file')}`;
  if (condition.kind !== 'content') return '';
  if (condition.grams.kind === 'scan') return 'the index cannot help: every file is read';
  return condition.blocks === undefined
    ? ''
    : `may be in ${counted(condition.blocks, 'block')} of ${counted(condition.docs ?? 0, 'file')}`;
}

function ConditionTree({ node, depth }: { readonly node: ConditionNode; readonly depth: number }) {
  const children = 'children' in node ? node.children : [];
  return (
    <li>
      <code className="plan-condition">
        <VisibleText text={wordsOf(node)} />
      </code>{' '}
      <span className="faint">{factsOf(node)}</span>
      {children.length > 0 && depth === DEPTH_MAX && (
        <span className="faint"> {counted(children.length, 'part')}</span>
      )}
      {children.length > 0 && depth < DEPTH_MAX && (
        <ul className="plan-tree">
          {children.map((child, index) => (
            <ConditionTree key={index} node={child} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  );
}

export default function PlanPanel() {
  const displayed = useSearch((state) => (state.state === 'running' ? undefined : state.displayed));
  const outcome = useSearch((state) => state.outcome);
  const explanation = useExplanation(displayed);
  const [isTable, setTable] = useState(false);
  if (outcome === undefined)
    return (
      <section className="plan" aria-label="Plan">
        <p className="faint">The plan appears when the search is over.</p>
      </section>
    );
  // Safety: the statistics of an answer, with the names of its schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const stats = outcome.stats as Stats;
  const stages = funnelOf(stats, explanation?.totals);
  const copy = (): void =>
    void copyText(JSON.stringify(explanation ?? { stats }, undefined, 2), 'Plan');
  return (
    <section className="plan" aria-label="Plan">
      <div className="plan-head">
        <h2>What was searched, and what was skipped</h2>
        <button type="button" className="link-button" onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as picture' : 'Show as table'}
        </button>
        <button type="button" className="link-button" onClick={copy}>
          Copy as JSON
        </button>
      </div>
      <div className="plan-body">
        {isTable ? (
          <StageTable stages={stages} />
        ) : (
          <ol className="plan-funnel">
            {stages.map((stage) => (
              <Bar key={stage.name} stage={stage} />
            ))}
          </ol>
        )}
        {explanation !== undefined && (
          <ul className="plan-tree">
            <ConditionTree node={explanation.plan.conditions} depth={0} />
            {explanation.plan.regexps.map(({ expression, engine, requires }) => (
              <li key={expression}>
                <code className="plan-condition">
                  <VisibleText text={expression} />
                </code>{' '}
                <span className="faint">
                  {engine}, every match contains {requires}
                </span>
              </li>
            ))}
            <li className="faint">
              Estimated {bytesText(explanation.plan.estimatedBytes)} to read, actually{' '}
              {bytesText(explanation.plan.verifiedBytes)}.
            </li>
          </ul>
        )}
      </div>
    </section>
  );
}
