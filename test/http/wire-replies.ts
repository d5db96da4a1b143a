// Replies received on a bare connection, matched with the requests written to it, so that they can be checked like
// those of an HTTP client. Incomplete replies are excluded.

export interface WireReply {
  readonly method: string;
  readonly path: string;
  readonly accept: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Head {
  readonly first: string;
  readonly headers: Record<string, string>;
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { first, headers: Object.fromEntries(fields) };
}

function requestsIn(written: string): Head[] {
  return [...written.matchAll(/[A-Z]+ \S+ HTTP\/1\.1\r\n[^]*?(?=\r\n\r\n)/g)].map(([head]) =>
    parseHead(head),
  );
}

/** The chunked body at the start of the text and its size there; undefined: it is not whole. */
function parseChunks(text: string): { body: string; size: number } | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || end > text.length) return undefined;
    if (size === 0) return { body, size: end };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = end;
  }
}

function parseBody(
  text: string,
  status: number,
  method: string,
  headers: Readonly<Record<string, string>>,
): { body: string; size: number } | undefined {
  if (method === 'HEAD' || status === 100 || status === 204 || status === 304)
    return { body: '', size: 0 };
  if (headers['transfer-encoding'] === 'chunked') return parseChunks(text);
  const size = Number(headers['content-length']);
  return size <= text.length ? { body: text.slice(0, size), size } : undefined;
}

/** A reply at the start of a text. */
export interface FoundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly size: number;
}

/** The reply at the start of the text if it is whole. */
export function replyAt(text: string, method: string): FoundReply | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const { first, headers } = parseHead(text.slice(0, headEnd));
  const status = Number(first.split(' ')[1]);
  const found = parseBody(text.slice(headEnd + 4), status, method, headers);
  if (found === undefined) return undefined;
  const body = Buffer.from(found.body, 'latin1');
  return { status, headers, body, size: headEnd + 4 + found.size };
}

/** The whole replies among what was received, in order; texts are latin-1. */
export function repliesIn(written: string, received: string): WireReply[] {
  const replies: WireReply[] = [];
  let rest = received;
  for (const request of requestsIn(written)) {
    const [method = '', path = ''] = request.first.split(' ');
    // What comes before a reply is none.
    rest = rest.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '');
    const found = replyAt(rest, method);
    if (found === undefined) break;
    const { size, ...reply } = found;
    rest = rest.slice(size);
    replies.push({ method, path, accept: request.headers['accept'], ...reply });
  }
  return replies;
}
