// What stays in the browser where an application that is no page was let in, or not.

import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';

export default function CompletePage() {
  useTitle('Done');
  return (
    <div className="card-page">
      <section className="card">
        <h1>Done</h1>
        <Notice kind="ok" title="Go on in the application. This window can be closed." />
      </section>
    </div>
  );
}
