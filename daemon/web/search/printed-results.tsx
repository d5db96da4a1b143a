// The results for printing: all loaded results as plain text. Only in the page while it prints.

import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ResultFile } from './rows.ts';

/** Maximum number of printed lines. */
const LINES_MAX = 20_000;

/** The files, cut to the lines that are printed. */
function printed(files: readonly ResultFile[]): readonly ResultFile[] {
  let remaining = LINES_MAX;
  return files.flatMap((file) => {
    if (remaining <= 0) return [];
    const lines = file.lines.slice(0, remaining);
    remaining -= Math.max(1, lines.length);
    return [{ ...file, lines }];
  });
}

export function PrintedResults({ files }: { readonly files: readonly ResultFile[] }) {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = (): void => flushSync(() => setPrinting(true));
    const end = (): void => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  if (!isPrinting) return null;
  return (
    <div className="printed">
      {printed(files).map(({ key, repository, path, lines }) => (
        <section key={key}>
          <h2>
            {repository} ▸ {path}
          </h2>
          <pre>{lines.map(({ number, text }) => `${number}\t${text}`).join('\n')}</pre>
        </section>
      ))}
    </div>
  );
}
