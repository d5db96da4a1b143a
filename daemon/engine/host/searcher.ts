// Searches shards on one thread, synchronously: keeps the spaces that hold them and runs bounded core calls (bind, search one
// unit, render docs). Replaces a space that trapped; an idle searcher releases the memory of requests.

import * as layout from '../../../core/shared/plan.ts';
import {
  STATUS_BAD_PLAN,
  STATUS_OUT_OF_MEMORY,
  STATUS_STOPPED,
} from '../../../core/shared/status.ts';
import { type Core, neverStops, statusName, type StopTest } from './core.ts';
import { PlanError, passDocSets, type EncodedPlan } from './encoded-plan.ts';
import { MappingBudget } from './mapping-budget.ts';
import { SearchNote } from './search-note.ts';
import { MappingError } from './mapping.ts';
import {
  mappingCountOf,
  ShardError,
  shardErrorOf,
  type ShardFile,
  Space,
  type SpaceOptions,
} from './space.ts';

/** The result of binding a plan to a shard; counts as defined in API.md 7. */
export interface Binding {
  readonly lookups: number;
  readonly indexBytes: number;
  readonly candidateBlocks: number;
  readonly candidateDocs: number;
  /** Content to read for verifying them (estimate). */
  readonly candidateBytes: number;
  readonly unitCount: number;
  /** 1: the first unit holds docs that define a symbol named by the query; else 0. */
  readonly headUnitCount: number;
  /** Regular expressions run on paths. */
  readonly regexps: number;
  /** False: without regard to case the query finds nothing in the shard. True: it may. */
  readonly mayMatchFolded: boolean;
  /** Only heads and the first part of the shard are bound (core/match/first-part.ts): the first units of the whole. */
  readonly isPart: boolean;
  /** If requested by the plan: docs and blocks of each node (NODE_*), by its row. */
  readonly nodeCounts?: Uint32Array;
}

/** Rows: docId, range count, score and tier, path rank (u32 each). */
export interface UnitResult {
  readonly rows: Uint32Array;
  readonly considered: number;
  readonly loaded: number;
  readonly contentBytes: number;
  readonly matches: number;
  /** Regular expressions run on blocks. */
  readonly regexps: number;
  readonly kept?: KeptRanges;
}

/** For rendering. By doc, in row order: number of ranges (0 or all), then their starts and ends in bytes of the content. */
export type KeptRanges = Uint32Array;

/** Points: (symbol + text + near) x tier + name, rounded down, + path + leaves (core/match/doc-score.ts). */
export interface ScoreParts {
  readonly symbol: number;
  readonly name: number;
  readonly text: number;
  readonly near: number;
  readonly tier: number;
  /** Only for a doc without ranges in its content; the other parts are 0 then. */
  readonly path: number;
  /** For the share of the query's leaves that hold. */
  readonly leaves: number;
}

/** JSON texts shared by docs (core/match/file-results.ts). */
export interface LinkTexts {
  /** URL of a page up to the doc's path, with the opening quote. */
  readonly page: string;
  /** Members, from a comma on. */
  readonly members: string;
  /** URL at the code host before and after the path; empty: none. */
  readonly external: string;
  readonly externalEnd: string;
  /** Whether the shard's git id of the content follows the score. */
  readonly hasBlobSha: boolean;
}

export interface RenderOptions {
  /** Requests refer to them by index. */
  readonly links: readonly LinkTexts[];
  /** The last members of some docs, ASCII JSON from a comma on. Requests refer to them by index plus 1. */
  readonly ends: readonly string[];
  readonly contextLines: number;
  readonly returnsContent: boolean;
}

/** JSON objects, concatenated. */
export interface RenderedDocs {
  readonly json: Uint8Array<ArrayBuffer>;
  /** Bytes of each object. */
  readonly sizes: Uint32Array;
  readonly rangeCount: number;
  /** Content read by rendering in addition to evaluation, by doc. */
  readonly bytesRead: Uint32Array;
  /** Docs whose content only rendering read. */
  readonly loadCount: number;
}

const encoder = new TextEncoder();

/**
 * A copy of shared memory. Why `fill`: V8 copies shared memory by atomic loads in `slice` and `set`, this one by memcpy.
 * Measured: 8 MB in 1.6 ms, by `slice` 3.4.
 */
function copyOf(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  return bytes.length === 0 ? copy : copy.fill(bytes);
}

/** Measured: 64 checks take 100 ms. Work is counted, not timed, so that a query is always refused or never. */
const NAME_QUESTIONS_MAX = 8;

/** docId, maximum ranges, index of the links, number of kept ranges, score or NO_SCORE, index of the end plus 1 or 0. */
export const REQUEST_WORDS = 6;
export const KEPT_WORDS = layout.KEPT_RANGE_SIZE / 4;

const NO_PLAN: EncodedPlan = {
  bytes: new Uint8Array(),
  docSetCount: 0,
  docSets: new Map(),
  docSetsId: 0,
};

export interface SearcherOptions extends SpaceOptions {
  /** Default: no limit. */
  readonly mappingMax?: number | undefined;
  /** Map shards beyond the limit only while searched, instead of refusing them. No view of their bytes may be kept. */
  readonly evicts?: boolean;
  /** Interval of releasing memory, ms; default: 3,000. */
  readonly restMs?: number;
  /** Whether a shard is opened by the first call that uses it; that call then reports the error. */
  readonly opensLazily?: boolean;
  /** Where to record the current shard (search-note.ts). */
  readonly note?: { readonly path: string; readonly slot: number } | undefined;
}

export class Searcher {
  readonly #module: WebAssembly.Module;
  readonly #options: SearcherOptions;
  readonly #mappings: MappingBudget;
  readonly #note: SearchNote | undefined;
  readonly #files = new Map<string, ShardFile>();
  /** To be opened on first use, or again when a resource is available. */
  readonly #waiting = new Map<string, ShardFile>();
  #spaces: Space[] = [];
  readonly #spaceByShard = new Map<string, Space>();
  #encodedPlan: EncodedPlan = NO_PLAN;
  readonly #compiled = new Set<Space>();
  #bound: { space: Space; shardId: string; of: 'some docs' | 'part' | 'all docs' } | undefined;
  #isTickAwaited = false;
  /** If unchanged since the last tick, a long search is running. */
  #lastPlan: EncodedPlan | undefined;
  #isUsedSinceTick = false;

  constructor(module: WebAssembly.Module, options: SearcherOptions = {}) {
    this.#module = module;
    this.#options = options;
    const { mappingMax = Infinity, evicts = false, note } = options;
    this.#note = note === undefined ? undefined : SearchNote.open(note.path, note.slot);
    this.#mappings = new MappingBudget(mappingMax, evicts, (shardId) => {
      this.#spaceByShard.get(shardId)?.takeOut(shardId);
      if (this.#bound?.shardId === shardId) this.#bound = undefined;
    });
  }

  /** Opens new shards, closes missing ones; returns the errors. */
  setShards(files: readonly ShardFile[]): ShardError[] {
    const requested = new Set(files.map((file) => file.shardId));
    for (const shardId of this.#files.keys()) if (!requested.has(shardId)) this.#close(shardId);
    this.#waiting.clear();
    const refused: ShardError[] = [];
    for (const file of files) {
      if (this.#files.has(file.shardId)) continue;
      if (this.#options.opensLazily === true) {
        this.#waiting.set(file.shardId, file);
        continue;
      }
      try {
        this.#open(file);
      } catch (error) {
        const refusal = shardErrorOf(file.shardId, error);
        refused.push(refusal);
        // A search of it then meets the same fault.
        this.#waiting.set(file.shardId, file);
      }
    }
    return refused;
  }

  #open(file: ShardFile): void {
    this.#forgetBindings();
    const count = this.#options.wantsRead === true ? 0 : mappingCountOf(file);
    if (!this.#mappings.canFit(count))
      throw new MappingError(`all ${this.#mappings.max} mappings for shards are in use`);
    const { shardId } = file;
    this.#note?.set(shardId);
    const space = this.#spaces.find((one) => one.open(file)) ?? this.#addSpace(file);
    this.#files.set(shardId, file);
    this.#spaceByShard.set(shardId, space);
    this.#mappings.add(shardId, count);
  }

  /** Errors: as `Space.open`; ShardError: too large. */
  #addSpace(file: ShardFile): Space {
    const space = new Space(this.#module, this.#options);
    let isOpen = false;
    try {
      isOpen = space.open(file);
    } finally {
      if (isOpen) this.#spaces.push(space);
      else space.drop();
    }
    if (!isOpen) throw new ShardError(file.shardId, `too large: ${file.size} bytes`);
    return space;
  }

  /** The core keys bindings by address, which another shard may get. */
  #forgetBindings(): void {
    this.#bound = undefined;
    this.#compiled.clear();
  }

  #close(shardId: string): void {
    this.#forgetBindings();
    this.#files.delete(shardId);
    this.#spaceByShard.get(shardId)?.close(shardId);
    this.#spaceByShard.delete(shardId);
    this.#mappings.remove(shardId);
  }

  /** Whether some shards are mapped only while searched. */
  get hasVisitors(): boolean {
    return this.#mappings.hasVisitors;
  }

  get spaceCount(): number {
    return this.#spaces.length;
  }

  /** Memory of the core in bytes, without shards. */
  get coreSize(): number {
    return this.#spaces.reduce((sum, { ownSize }) => sum + ownSize, 0);
  }

  has(shardId: string): boolean {
    return this.#files.has(shardId);
  }

  /** With the shard's bytes in memory. Errors: ShardError. */
  spaceOf(shardId: string): Space {
    const space = this.#spaceByShard.get(shardId) ?? this.#openWaiting(shardId);
    this.#note?.set(shardId);
    if (!space.isIn(shardId)) {
      space.takeIn(shardId);
      const file = this.#files.get(shardId);
      if (file !== undefined) this.#mappings.add(shardId, mappingCountOf(file));
    }
    return space;
  }

  #openWaiting(shardId: string): Space {
    const file = this.#waiting.get(shardId);
    if (file === undefined) throw new ShardError(shardId, 'not open');
    try {
      this.#open(file);
    } catch (error) {
      throw shardErrorOf(shardId, error);
    }
    this.#waiting.delete(shardId);
    return this.#spaceByShard.get(shardId)!;
  }

  /** Drops all bindings. If the core refuses the plan, its first use throws PlanError. */
  beginPlan(encodedPlan: EncodedPlan): void {
    this.#encodedPlan = encodedPlan;
    this.#forgetBindings();
  }

  /** As `beginPlan`, but keeps compiled and bound state if the plan is unchanged. */
  setPlan(encodedPlan: EncodedPlan): void {
    const { bytes, docSetsId } = this.#encodedPlan;
    const isSame =
      docSetsId === encodedPlan.docSetsId && Buffer.compare(encodedPlan.bytes, bytes) === 0;
    if (!isSame) this.beginPlan(encodedPlan);
  }

  #spaceWithPlan(shardId: string): Space {
    const space = this.spaceOf(shardId);
    this.#restLater();
    if (this.#compiled.has(space)) return space;
    const { bytes } = this.#encodedPlan;
    const sizeMax = space.statsStart - space.planStart;
    if (bytes.length > sizeMax)
      throw new PlanError(`its plan takes ${bytes.length} bytes, limit ${sizeMax}`);
    space.core.bytes.set(bytes, space.planStart);
    const status = space.core.exports.planCompile(space.planStart, bytes.length);
    if (status === STATUS_OUT_OF_MEMORY) throw memoryError(space);
    if (status !== 0) throw new PlanError(`the core refused the plan: ${statusName(status)}`);
    this.#compiled.add(space);
    return space;
  }

  /** Whether the shard has symbols named by the plan. Takes some microseconds. Errors: as `bind`. */
  hasHeads(shardId: string): boolean {
    const space = this.#spaceWithPlan(shardId);
    return space.core.exports.hasHeads(space.viewOf(shardId)) !== 0;
  }

  /**
   * Binds the plan to a shard; units and docs refer to it until the next call. Cheap when repeated (core/match/bindings.ts).
   * Undefined: it was stopped, and nothing is bound. @param mayBePart  the first units suffice
   */
  bind(shardId: string): Binding;
  bind(shardId: string, isStopRequested: StopTest, mayBePart?: boolean): Binding | undefined;
  bind(shardId: string, isStopRequested = neverStops, mayBePart = false): Binding | undefined {
    const space = this.#bindBy(shardId, isStopRequested, (view, { core, statsStart }) =>
      core.exports.planBind(view, Number(mayBePart), statsStart),
    );
    if (space === undefined) return undefined;
    const binding = bindingOf(space);
    this.#bound = { space, shardId, of: binding.isPart ? 'part' : 'all docs' };
    if (space.core.exports.nodeCounts.value === 0) return binding;
    return { ...binding, nodeCounts: nodeCountsOf(space.core, this.#encodedPlan) };
  }

  /** Binds only docs that define a symbol named by the query: the first unit of `bind`. Cheaper, as it reads few lists. */
  bindHeads(shardId: string, isStopRequested: StopTest = neverStops): Binding | undefined {
    const space = this.#bindBy(shardId, isStopRequested, (view, { core, statsStart }) =>
      core.exports.planBindHeads(view, statsStart),
    );
    return space && bindingOf(space);
  }

  /** Binds only these docs, for rendering; there are no units. False: it was stopped. */
  bindDocs(shardId: string, docIds: readonly number[], isStopRequested: StopTest): boolean {
    const space = this.#bindBy(shardId, isStopRequested, (view, { core, outputStart }) => {
      core.words.set(docIds, outputStart / 4);
      return core.exports.planBindDocs(view, outputStart, docIds.length);
    });
    return space !== undefined;
  }

  #bindBy(
    shardId: string,
    isStopRequested: StopTest,
    call: (view: number, space: Space) => number,
  ): Space | undefined {
    const space = this.#spaceWithPlan(shardId);
    this.#bound = undefined;
    space.checkNowAndThen(shardId);
    const view = space.viewOf(shardId);
    passDocSets(space.core, view, shardId, this.#encodedPlan);
    const status = untilStopped(space.core, isStopRequested, () => call(view, space));
    if (status === STATUS_STOPPED) return undefined;
    if (status === STATUS_OUT_OF_MEMORY) throw memoryError(space);
    if (status === STATUS_BAD_PLAN) throw new PlanError(statusName(status));
    if (status !== 0) throw new ShardError(shardId, statusName(status));
    this.#bound = { space, shardId, of: 'some docs' };
    return space;
  }

  #restLater(): void {
    this.#isUsedSinceTick = true;
    if (this.#isTickAwaited) return;
    this.#isTickAwaited = true;
    // Bound: how long an idle thread keeps memory. Touching it again costs a search 1 ms (daemon/DECISIONS.md).
    setTimeout(() => this.#tick(), this.#options.restMs ?? 3000).unref();
  }

  /** Skips a search that runs since the last tick: it would have to compile its plan again after every tick. */
  #tick(): void {
    this.#isTickAwaited = false;
    const isLong = this.#isUsedSinceTick && this.#lastPlan === this.#encodedPlan;
    this.#lastPlan = this.#encodedPlan;
    if (isLong) this.#restLater();
    else {
      this.#forgetBindings();
      for (const space of this.#spaces) space.rest();
    }
    this.#isUsedSinceTick = false;
  }

  /** Whether the plan is bound to all docs of this shard, or if `mayBePart` to its first part. */
  isBound(shardId: string, mayBePart = false): boolean {
    if (this.#bound?.shardId !== shardId) return false;
    return this.#bound.of === 'all docs' || (mayBePart && this.#bound.of === 'part');
  }

  #boundSpace(): Space {
    if (this.#bound === undefined) throw new Error('no shard is bound');
    this.#note?.set(this.#bound.shardId);
    return this.#bound.space;
  }

  /** Runs a unit of the bound shard. Undefined: it was stopped. */
  searchUnit(unit: number): UnitResult;
  searchUnit(unit: number, isStopRequested: StopTest): UnitResult | undefined;
  searchUnit(unit: number, isStopRequested = neverStops): UnitResult | undefined {
    const { core, outputStart, statsStart } = this.#boundSpace();
    // Bound: memory of one unit's ranges.
    const keptSizeMax = 32_768 * layout.KEPT_RANGE_SIZE;
    const count = untilStopped(core, isStopRequested, ({ exports }) =>
      exports.searchUnit(unit, outputStart, statsStart, keptSizeMax),
    );
    if (count === STATUS_STOPPED) return undefined;
    const { data, words } = core;
    const rowsStart = outputStart / 4;
    const rowWords = layout.MATCH_ROW_SIZE / 4;
    const considered = data.getFloat64(statsStart + layout.UNIT_CONSIDERED_OFFSET, true);
    const keptStart = rowsStart + considered * rowWords;
    const keptWords = data.getFloat64(statsStart + layout.UNIT_KEPT_OFFSET, true);
    return {
      rows: words.slice(rowsStart, rowsStart + count * rowWords),
      ...(keptWords === 0 ? {} : { kept: words.slice(keptStart, keptStart + keptWords) }),
      considered,
      loaded: data.getFloat64(statsStart + layout.UNIT_LOADED_OFFSET, true),
      contentBytes: data.getFloat64(statsStart + layout.UNIT_CONTENT_BYTES_OFFSET, true),
      matches: data.getFloat64(statsStart + layout.UNIT_MATCHES_OFFSET, true),
      regexps: data.getFloat64(statsStart + layout.UNIT_REGEXPS_OFFSET, true),
    };
  }

  scoreDoc(docId: number, isStopRequested: StopTest): ScoreParts | undefined {
    const { core, outputStart } = this.#boundSpace();
    const status = untilStopped(core, isStopRequested, ({ exports }) =>
      exports.scoreDoc(docId, outputStart),
    );
    if (status === STATUS_STOPPED) return undefined;
    const parts = new DataView(core.memory.buffer, outputStart, layout.SCORE_SIZE);
    return {
      symbol: parts.getFloat64(layout.SCORE_SYMBOL_OFFSET, true),
      name: parts.getFloat64(layout.SCORE_NAME_OFFSET, true),
      text: parts.getFloat64(layout.SCORE_TEXT_OFFSET, true),
      near: parts.getFloat64(layout.SCORE_NEAR_OFFSET, true),
      tier: parts.getFloat64(layout.SCORE_TIER_OFFSET, true),
      path: parts.getFloat64(layout.SCORE_PATH_OFFSET, true),
      leaves: parts.getFloat64(layout.SCORE_LEAVES_OFFSET, true),
    };
  }

  /**
   * Renders matching docs of the bound shard; throws if a doc does not fit the output area. Undefined: it was stopped.
   * @param requests  REQUEST_WORDS for each doc
   * @param kept      starts and ends of the kept ranges, concatenated by doc
   */
  render(
    requests: Uint32Array,
    kept: Uint32Array,
    options: RenderOptions,
    isStopRequested = neverStops,
  ): RenderedDocs | undefined {
    const parts: RenderedDocs[] = [];
    const count = requests.length / REQUEST_WORDS;
    let keptRest = kept;
    for (let done = 0; done < count;) {
      const rest = requests.subarray(done * REQUEST_WORDS);
      const some = this.#renderSome(rest, keptRest, options, isStopRequested);
      if (some === undefined) return undefined;
      if (some.sizes.length === 0)
        throw new Error(`doc ${requests[done * REQUEST_WORDS]} does not fit the output area`);
      parts.push(some);
      keptRest = keptRest.subarray(KEPT_WORDS * keptCountOf(rest, some.sizes.length));
      done += some.sizes.length;
    }
    return parts.length === 1 ? parts[0]! : joinRendered(parts);
  }

  #renderSome(
    requests: Uint32Array,
    kept: Uint32Array,
    options: RenderOptions,
    isStopRequested: StopTest,
  ): RenderedDocs | undefined {
    const { core, outputStart, outputEnd } = this.#boundSpace();
    const { exports, bytes, words } = core;
    const rowSize = layout.RENDER_REQUEST_SIZE;
    const requested = requests.length / REQUEST_WORDS;
    let keptNext = outputStart + requested * rowSize;
    words.set(kept, keptNext / 4);
    const links = keptNext + kept.byteLength;
    for (let i = 0; i < requested; i++) {
      const row = (outputStart + i * rowSize) / 4;
      const keptCount = requests[i * REQUEST_WORDS + 3]!;
      words[row + layout.RENDER_DOC_OFFSET / 4] = requests[i * REQUEST_WORDS]!;
      words[row + layout.RENDER_RANGE_MAX_OFFSET / 4] = requests[i * REQUEST_WORDS + 1]!;
      words[row + layout.RENDER_LINKS_OFFSET / 4] = requests[i * REQUEST_WORDS + 2]!;
      words[row + layout.RENDER_KEPT_OFFSET / 4] = keptNext;
      words[row + layout.RENDER_KEPT_COUNT_OFFSET / 4] = keptCount;
      words[row + layout.RENDER_SCORE_OFFSET / 4] = requests[i * REQUEST_WORDS + 4]!;
      words[row + layout.RENDER_END_SIZE_OFFSET / 4] = 0;
      keptNext += keptCount * layout.KEPT_RANGE_SIZE;
    }
    const { contextLines, returnsContent } = options;
    const linksEnd = writeLinks(core, links, options.links);
    const out =
      options.ends.length === 0
        ? linksEnd
        : writeEnds(core, linksEnd, options.ends, requests, outputStart);
    const withContent = returnsContent ? 1 : 0;
    const count = untilStopped(core, isStopRequested, () =>
      exports.renderDocs(outputStart, requested, links, contextLines, withContent, out, outputEnd),
    );
    if (count === STATUS_STOPPED) return undefined;
    const sizes = new Uint32Array(count);
    const bytesRead = new Uint32Array(count);
    let size = 0;
    let rangeCount = 0;
    for (let i = 0; i < count; i++) {
      const row = (outputStart + i * rowSize) / 4;
      rangeCount += words[row + layout.RENDER_RANGE_COUNT_OFFSET / 4]!;
      sizes[i] = words[row + layout.RENDER_OBJECT_SIZE_OFFSET / 4]!;
      size += sizes[i]!;
      bytesRead[i] = words[row + layout.RENDER_BYTES_READ_OFFSET / 4]!;
    }
    return {
      json: copyOf(bytes.subarray(out, out + size)),
      sizes,
      rangeCount,
      bytesRead,
      loadCount: exports.renderedLoadCount.value >>> 0,
    };
  }

  /** Empty matches count. Drops bindings. Errors: PlanError if the core refuses the program, or `isTooMuch` ends the work. */
  testNames(
    program: Uint8Array,
    names: readonly string[],
    isTooMuch: StopTest = asOften(NAME_QUESTIONS_MAX),
  ): boolean[] {
    const space = (this.#spaces[0] ??= new Space(this.#module, this.#options));
    const { core, outputStart, outputEnd } = space;
    const memory = new Uint8Array(core.memory.buffer);
    const rowsStart = Math.ceil((outputStart + program.length) / 4) * 4;
    const out = rowsStart + names.length * 8;
    const rows = new Uint32Array(core.memory.buffer, rowsStart, names.length * 2);
    let next = out + names.length;
    for (const [index, name] of names.entries()) {
      const { written } = encoder.encodeInto(name, memory.subarray(next, outputEnd));
      rows.set([next, written], index * 2);
      next += written;
    }
    memory.set(program, outputStart);
    // Expressions share the core's scratch memory with the plan.
    this.#forgetBindings();
    const status = untilStopped(core, isTooMuch, ({ exports }) =>
      exports.testNames(outputStart, program.length, rowsStart, names.length, out),
    );
    const tooMuch = `a regular expression takes too many steps on ${names.length} repository names`;
    if (status === STATUS_STOPPED) throw new PlanError(tooMuch);
    if (status !== 0) throw new PlanError(`the core refused the expression: ${statusName(status)}`);
    return names.map((_, index) => memory[out + index] !== 0);
  }

  /** ENGINE_* (core/shared/program.ts) for contents, or if `isTest` for names. Drops bindings. Errors: PlanError. */
  engineOf(program: Uint8Array, isTest: boolean): number {
    this.#forgetBindings();
    const { core, outputStart } = (this.#spaces[0] ??= new Space(this.#module, this.#options));
    new Uint8Array(core.memory.buffer).set(program, outputStart);
    const answer = core.exports.regexEngine(outputStart, program.length, Number(isTest));
    if (answer < 0) throw new PlanError(`the core refused the expression: ${statusName(answer)}`);
    return answer;
  }

  /** Replaces the trapped instance of a shard by a new one with the same shards. */
  replaceSpaceOf(shardId: string): void {
    const dead = this.spaceOf(shardId);
    const files = [...this.#files.values()].filter((file) => dead.has(file.shardId));
    this.#spaces = this.#spaces.filter((space) => space !== dead);
    this.#compiled.delete(dead);
    this.#bound = undefined;
    for (const { shardId } of files) {
      this.#files.delete(shardId);
      this.#spaceByShard.delete(shardId);
      this.#mappings.remove(shardId);
    }
    // What trapped may be a damaged page.
    dead.forgetCheckedPages();
    // Dropped now, as collection would release its memory late. Other requests may still use views of it.
    dead.drop(true);
    this.setShards([...this.#files.values(), ...this.#waiting.values(), ...files]);
  }
}

function bindingOf({ core, statsStart }: Space): Binding {
  const { data } = core;
  return {
    lookups: data.getFloat64(statsStart + layout.BIND_LOOKUPS_OFFSET, true),
    indexBytes: data.getFloat64(statsStart + layout.BIND_INDEX_BYTES_OFFSET, true),
    candidateBlocks: data.getFloat64(statsStart + layout.BIND_BLOCKS_OFFSET, true),
    candidateDocs: data.getFloat64(statsStart + layout.BIND_DOCS_OFFSET, true),
    candidateBytes: data.getFloat64(statsStart + layout.BIND_BYTES_OFFSET, true),
    unitCount: data.getFloat64(statsStart + layout.BIND_UNITS_OFFSET, true),
    headUnitCount: data.getFloat64(statsStart + layout.BIND_HEAD_UNITS_OFFSET, true),
    regexps: data.getFloat64(statsStart + layout.BIND_REGEXPS_OFFSET, true),
    mayMatchFolded: data.getFloat64(statsStart + layout.BIND_MAY_MATCH_FOLDED_OFFSET, true) !== 0,
    isPart: data.getFloat64(statsStart + layout.BIND_IS_PART_OFFSET, true) !== 0,
  };
}

function nodeCountsOf({ exports, memory }: Core, { bytes }: EncodedPlan): Uint32Array {
  const start = exports.nodeCounts.value >>> 0;
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nodeCount = header.getUint32(layout.PLAN_NODE_COUNT_OFFSET, true);
  return new Uint32Array(memory.buffer, start, (nodeCount * layout.NODE_COUNTS_SIZE) / 4).slice();
}

function keptCountOf(requests: Uint32Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += requests[i * REQUEST_WORDS + 3]!;
  return sum;
}

function memoryError({ arenaSize }: Space): PlanError {
  return new PlanError(`it takes more memory than the limit of ${arenaSize} bytes`);
}

function asOften(countMax: number): StopTest {
  let count = 0;
  return () => ++count > countMax;
}

function untilStopped(core: Core, isStopRequested: StopTest, call: (core: Core) => number): number {
  core.isStopRequested = isStopRequested;
  try {
    return call(core);
  } finally {
    core.isStopRequested = neverStops;
  }
}

/** Returns the end, a multiple of 16. */
function writeLinks({ bytes, words }: Core, records: number, links: readonly LinkTexts[]): number {
  let next = records + links.length * layout.LINK_TEXTS_SIZE;
  let word = records / 4;
  const write = (text: string): void => {
    // The bound is needed: Node.js writes nothing where 2 GiB or more remain.
    const size = bytes.write(text, next, 3 * text.length);
    words[word++] = next;
    words[word++] = size;
    next += size;
  };
  for (const { page, members, external, externalEnd, hasBlobSha } of links) {
    write(page);
    write(members);
    write(external);
    write(externalEnd);
    words[word++] = hasBlobSha ? 1 : 0;
  }
  return Math.ceil(next / 16) * 16;
}

/** Returns the end, a multiple of 16. */
function writeEnds(
  { bytes, words }: Core,
  start: number,
  ends: readonly string[],
  requests: Uint32Array,
  rowsStart: number,
): number {
  let next = start;
  for (let i = 0; i < requests.length / REQUEST_WORDS; i++) {
    const end = ends[requests[i * REQUEST_WORDS + 5]! - 1];
    if (end === undefined) continue;
    const row = (rowsStart + i * layout.RENDER_REQUEST_SIZE) / 4;
    words[row + layout.RENDER_END_OFFSET / 4] = next;
    words[row + layout.RENDER_END_SIZE_OFFSET / 4] = end.length;
    next += bytes.write(end, next, end.length, 'latin1');
  }
  return Math.ceil(next / 16) * 16;
}

function joinRendered(parts: readonly RenderedDocs[]): RenderedDocs {
  const sumOf = (valueOf: (part: RenderedDocs) => number): number =>
    parts.reduce((sum, part) => sum + valueOf(part), 0);
  const joined = {
    json: new Uint8Array(sumOf(({ json }) => json.length)),
    sizes: new Uint32Array(sumOf(({ sizes }) => sizes.length)),
    bytesRead: new Uint32Array(sumOf(({ sizes }) => sizes.length)),
    rangeCount: sumOf(({ rangeCount }) => rangeCount),
    loadCount: sumOf(({ loadCount }) => loadCount),
  };
  let doc = 0;
  let byte = 0;
  for (const { json, sizes, bytesRead } of parts) {
    joined.json.set(json, byte);
    joined.sizes.set(sizes, doc);
    joined.bytesRead.set(bytesRead, doc);
    byte += json.length;
    doc += sizes.length;
  }
  return joined;
}
