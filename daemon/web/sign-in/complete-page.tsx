// What remains in the browser after the user answered an application that is not a web page.

import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';

export default function CompletePage() {
  useTitle('Done');
  return (
    <div className="card-page">
      <section className="card">
        <h1>Done</h1>
        <Notice kind="ok" title="Continue in the application. You can close this window." />
      </section>
    </div>
  );
}
