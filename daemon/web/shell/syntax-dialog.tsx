// The guide to the syntax of queries.

import { Modal } from '../parts/modal.tsx';
import { closeOverlay, showOverlay } from '../parts/overlay.ts';

const ROWS: readonly (readonly [string, readonly (readonly [query: string, what: string])[]])[] = [
  [
    'Text',
    [
      ['foo bar', 'both, anywhere in one file, in any case'],
      ['"foo bar"', 'the two words as they stand; \\" for a quote'],
      ['foo or bar', 'either; binds less than words side by side'],
      ['foo (bar or baz)', 'foo, and one of the two'],
      ['-(foo) bar', 'bar, without foo'],
      ['content:"lang:c"', 'text that looks like a filter'],
    ],
  ],
  [
    'Filters, each also with - before it',
    [
      ['repo:acme/', 'repositories whose name matches (regular expression)'],
      ['file:_test\\.go$', 'files whose path matches (regular expression)'],
      ['lang:typescript', 'files of a language'],
      ['sym:^parse', 'definitions whose name matches'],
      ['rev:release', 'revisions whose name holds the text; rev:* for all'],
      ['context:web', 'repositories of a search context'],
      ['reposet:a/b,c/d', 'exactly these repositories'],
      ['archived:no fork:no', 'without archived ones and forks; also yes, only'],
      ['visibility:public', 'by who may see the repository; also private, any'],
    ],
  ],
  [
    'Regular expressions (.* in the box, Alt+R)',
    [
      ['foo.*bar', 'RE2 syntax; a dot ends at the end of the line'],
      ['"func \\w+"', 'quotes keep blanks'],
      ['\\bfoo\\b', 'the whole word'],
    ],
  ],
];

export default function SyntaxDialog() {
  return (
    <Modal
      title="Syntax of queries"
      close={closeOverlay}
      other={{ label: 'Keys', run: () => showOverlay('keys') }}
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
