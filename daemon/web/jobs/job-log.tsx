// The log of a job, live. It follows the end until the user scrolls up. Lines can be filtered, copied and downloaded.

import { Copy, Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { copyText } from '../parts/clipboard.ts';
import { FilterInput } from '../parts/field.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { clockTime } from '../parts/number-format.ts';
import { isActive, type Job, type LogLine, useJobLog } from './job-queries.ts';
import '../styles/jobs.css';

/** px from the end that still count as the end. */
const END_SIZE = 8;

function factsOf({ fields = {} }: LogLine): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function textOf(line: LogLine): string {
  return [line.timestamp, line.level, line.message, factsOf(line)].join(' ').trimEnd();
}

/** Downloads a text as a file. */
function keep(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

function Line({ line }: { readonly line: LogLine }) {
  return (
    <div className={`log-line log-${line.level}`}>
      <time dateTime={line.timestamp}>{clockTime(line.timestamp)}</time> {line.level}{' '}
      <Name>{line.message}</Name>{' '}
      <span className="faint">
        <Name>{factsOf(line)}</Name>
      </span>
    </div>
  );
}

interface HeadProps {
  readonly job: Job;
  readonly lines: readonly LogLine[];
  readonly part: string;
  readonly setPart: (part: string) => void;
}

function Head({ job, lines, part, setPart }: HeadProps) {
  const text = (): string => lines.map((line) => `${textOf(line)}\n`).join('');
  return (
    <div className="log-head">
      <h3>Log</h3>
      <span className="faint">
        {isActive(job) ? 'live · ' : ''}
        attempt {Math.max(1, job.attempt)}
      </span>
      <FilterInput className="page-filter" label="Filter lines" value={part} set={setPart} />
      <IconButton label="Copy log" icon={Copy} run={() => void copyText(text(), 'Log')} />
      <IconButton
        label="Download log"
        icon={Download}
        run={() => keep(`job-${job.id}.log`, text())}
      />
    </div>
  );
}

export function JobLog({ job }: { readonly job: Job }) {
  const { data, error } = useJobLog(job);
  const [part, setPart] = useState('');
  const [isAtEnd, setAtEnd] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const toEnd = (): void => box.current?.scrollTo({ top: box.current.scrollHeight });
  const filter = part.toLowerCase();
  const lines = data?.lines.filter((line) => textOf(line).toLowerCase().includes(filter)) ?? [];
  const { length } = lines;
  useEffect(() => {
    if (isAtEnd) toEnd();
  }, [length, isAtEnd]);
  if (error !== null) return <Notice kind="danger" title={error.message} />;
  return (
    <section className="log-box" aria-label="Job log">
      <Head job={job} lines={data?.lines ?? []} part={part} setPart={setPart} />
      <div
        ref={box}
        className="log"
        tabIndex={0}
        role="log"
        aria-label="Lines"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
          setAtEnd(scrollTop + clientHeight >= scrollHeight - END_SIZE)
        }
      >
        {(data?.count ?? 0) > (data?.lines.length ?? 0) && (
          <p className="faint">Earlier lines are not kept.</p>
        )}
        {lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
        {data !== undefined && length === 0 && (
          <p className="faint">{part === '' ? 'No lines yet.' : 'No matching lines.'}</p>
        )}
      </div>
      {!isAtEnd && (
        <button type="button" className="button log-newest" onClick={toEnd}>
          Newest ↓
        </button>
      )}
    </section>
  );
}
