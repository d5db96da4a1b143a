// Traces by OpenTelemetry (OPERATIONS.md): a span for each request, the phases of its searches, its calls of git; and for each
// call of a job. Spans are made of what was measured anyway, once it has ended. They hold no query, path or repository.

import {
  type Attributes,
  type Context,
  diag,
  DiagLogLevel,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type EndedCall, observeCalls, wholeOf } from '../base/observed-calls.ts';
import type { Log } from '../base/log.ts';
import { messageOf } from '../base/caught.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { CompletedSearch } from '../engine/search/answer.ts';
import type { SearchOrigin } from '../engine/search/prepare.ts';
import type { EndedRequest } from '../http/pipeline.ts';
import type { HttpRequest } from '../http/adapters/adapter.ts';

/** Cost: spans of phases take as long as a short search: these have none. */
const PHASES_MIN_NS = 20e6;
/** Bound: lines of the log while spans cannot be sent. */
const NOTICE_MS = 60_000;
/** Of an export, retries included. Bound: delay of the daemon's end by a receiver that does not answer. */
const EXPORT_MS_MAX = 2_000;
/** Until the wall clock is read again: it may have been set. */
const CLOCK_MS = 60_000;

const nothing = (): void => {};
const propagator = new W3CTraceContextPropagator();
const getter = {
  get: (headers: HttpRequest['headers'], name: string) => headers.get(name),
  keys: (headers: HttpRequest['headers']) => [...headers.keys()],
};

interface Open {
  readonly span: Span;
  readonly context: Context;
}

export class Traces {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  /** By the signal of the request. */
  readonly #open = new WeakMap<object, Open>();
  /** Epoch of performance.now, ms. */
  #epochMs = 0;
  #clockReadMs = -Infinity;

  /** Reads the variables of OpenTelemetry. */
  constructor(log: Log) {
    const notices = new Notices(log);
    const note = (text: string): void => notices.note(text);
    diag.setLogger(
      { error: note, warn: note, info: nothing, debug: nothing, verbose: nothing },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    setGlobalErrorHandler((error) => notices.note(messageOf(error)));
    const version = readProductVersion();
    const exporter = new OTLPTraceExporter({ timeoutMillis: EXPORT_MS_MAX });
    this.#provider = new BasicTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'trawl', 'service.version': version }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#tracer = this.#provider.getTracer('trawl', version);
    observeCalls((call) => this.#noteCall(call));
  }

  /** @param startMs  of performance.now */
  begin({ headers, signal }: HttpRequest, startMs: number): void {
    this.#readClock(startMs);
    const parent = propagator.extract(ROOT_CONTEXT, headers, getter);
    const options = { kind: SpanKind.SERVER, startTime: this.#timeOf(startMs) };
    const span = this.#tracer.startSpan('HTTP', options, parent);
    this.#open.set(signal, { span, context: trace.setSpan(ROOT_CONTEXT, span) });
  }

  noteRequest({ request, requestId, endpoint, status, errorCode, endMs }: EndedRequest): void {
    const span = this.#open.get(request.signal)?.span;
    if (span?.isRecording() !== true) return;
    const method = endpoint?.method ?? '_OTHER';
    if (endpoint !== undefined) {
      span.updateName(`${method} ${endpoint.path}`);
      span.setAttribute('http.route', endpoint.path);
    }
    span.setAttribute('http.request.method', method);
    span.setAttribute('http.response.status_code', status);
    span.setAttribute('trawl.request_id', requestId);
    if (errorCode !== undefined) span.setAttribute('error.type', errorCode);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(this.#timeOf(endMs));
  }

  noteSearch(search: CompletedSearch, { environment: { signal, permit } }: SearchOrigin): void {
    const open = this.#open.get(signal);
    const { durationNs, waitNs, bindNs, matchNs, steps } = search;
    if (durationNs < PHASES_MIN_NS || open?.span.isRecording() !== true) return;
    const startMs = permit?.arrivedMs ?? performance.now() - durationNs / 1e6;
    const add = (name: string, fromNs: number, toNs: number, attributes: Attributes = {}): void => {
      const startTime = this.#timeOf(startMs + fromNs / 1e6);
      const span = this.#tracer.startSpan(name, { startTime, attributes }, open.context);
      span.end(this.#timeOf(startMs + Math.max(fromNs, toNs) / 1e6));
    };
    const { beganNs, parsedNs, plannedNs, foundNs } = steps;
    add('parse', beganNs, parsedNs);
    add('plan', parsedNs, plannedNs);
    // Shards are bound in turn, while others are searched.
    add('bind', plannedNs, waitNs, { 'trawl.threads_ms': bindNs / 1e6 });
    const incomplete = search.reasons.join(' ');
    add('search', waitNs, foundNs, {
      'trawl.threads_ms': matchNs / 1e6,
      ...(incomplete === '' ? {} : { 'trawl.incomplete': incomplete }),
    });
    add('render', foundNs, durationNs);
  }

  #noteCall({ system, name, host, signal, startMs, endMs, fault }: EndedCall): void {
    let open: Open | undefined;
    for (let whole: object | undefined = signal; whole !== undefined; whole = wholeOf(whole))
      open ??= this.#open.get(whole);
    if (open?.span.isRecording() === false) return;
    this.#readClock(endMs);
    const attributes: Attributes =
      system === 'git' ? { 'trawl.git.command': name } : { 'http.request.method': name };
    if (host !== undefined) attributes['server.address'] = host;
    if (fault !== undefined) attributes['error.type'] = fault;
    const span = this.#tracer.startSpan(
      system === 'git' ? `git ${name}` : name,
      { kind: SpanKind.CLIENT, startTime: this.#timeOf(startMs), attributes },
      open?.context ?? ROOT_CONTEXT,
    );
    if (fault !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(this.#timeOf(endMs));
  }

  /** Seldom, as the spans of a trace must agree. @param nowMs  of performance.now */
  #readClock(nowMs: number): void {
    if (nowMs - this.#clockReadMs < CLOCK_MS) return;
    this.#clockReadMs = nowMs;
    this.#epochMs = Date.now() - performance.now();
  }

  /** @param ms  of performance.now */
  #timeOf(ms: number): HrTime {
    const epochMs = this.#epochMs + ms;
    const seconds = Math.trunc(epochMs / 1000);
    return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
  }

  /** Sends what remains, if that is possible soon. */
  async close(): Promise<void> {
    observeCalls(undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, EXPORT_MS_MAX);
    });
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

/** What the library reports, one line a minute. Values are left out: they may be secrets. */
class Notices {
  readonly #log: Log;
  #count = 0;
  #loggedMs = -Infinity;

  constructor(log: Log) {
    this.#log = log;
  }

  note(text: string): void {
    this.#count++;
    if (performance.now() - this.#loggedMs < NOTICE_MS) return;
    const reason = text.replaceAll(/\(.*\)|'[^']*'|"[^"]*"|\/\/\S*@/gs, '...').slice(0, 200);
    this.#log.warn('traces are incomplete', { reason, count: this.#count });
    this.#loggedMs = performance.now();
    this.#count = 0;
  }
}
