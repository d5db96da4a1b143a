// The guide to the query syntax.

import { Modal } from '../parts/modal.tsx';
import { closeOverlay, showOverlay } from '../parts/overlay.ts';

const ROWS: readonly (readonly [string, readonly (readonly [query: string, what: string])[]])[] = [
  [
    'Text',
    [
      ['foo bar', 'both words, anywhere in one file, ignoring case'],
      ['"foo bar"', 'the exact phrase; write \\" for a quote'],
      ['foo or bar', 'either one; binds less tightly than a space'],
      ['foo (bar or baz)', 'foo and one of the other two'],
      ['-(foo) bar', 'bar but not foo'],
      ['content:"lang:c"', 'text that looks like a filter'],
    ],
  ],
  [
    'Filters; a - before one excludes',
    [
      ['repo:acme/', 'repositories whose name matches (regular expression)'],
      ['file:_test\\.go$', 'files whose path matches (regular expression)'],
      ['lang:typescript', 'files of a language'],
      ['sym:^parse', 'definitions whose name matches'],
      ['rev:release', 'revisions whose name contains the text; rev:* for all'],
      ['context:web', 'repositories of a search context'],
      ['reposet:a/b,c/d', 'exactly these repositories'],
      ['archived:no fork:no', 'no archived repositories and no forks; also yes, only'],
      ['visibility:public', 'public repositories; also private, any'],
    ],
  ],
  [
    'Regular expressions (.* in the box, Alt+R)',
    [
      ['foo.*bar', 'RE2 syntax; a dot does not match a line end'],
      ['"func \\w+"', 'quotes keep spaces'],
      ['\\bfoo\\b', 'foo as a whole word'],
    ],
  ],
];

export default function SyntaxDialog() {
  return (
    <Modal
      title="Query syntax"
      close={closeOverlay}
      other={{ label: 'Keyboard shortcuts', run: () => showOverlay('keys') }}
    >
      <div className="key-tables" tabIndex={0} role="region" aria-label="Syntax">
        {ROWS.map(([title, rows]) => (
          <table key={title} className="key-table">
            <caption>{title}</caption>
            <tbody>
              {rows.map(([query, what]) => (
                <tr key={query}>
                  <th scope="row">
                    <code>{query}</code>
                  </th>
                  <td>{what}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </Modal>
  );
}
