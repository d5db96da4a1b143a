// What the command line asks of the rest of the daemon: option objects in, plain results out. The
// commands know only these interfaces, so that they can be tested with services of their own; the file
// connect.ts binds them to the engine, the build and the server.

import type { BackupInput } from '../backup/make.ts';
import type { RestoreReport } from '../backup/restore.ts';
import type {
  OperationInput,
  OperationName,
  OperationOutput,
} from '../http/operator/operations.ts';

/** The request body of `POST /api/search`. */
export interface SearchCall {
  readonly query: string;
  /** Ranges at most, 1 or higher. */
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

export interface Location {
  /** Bytes from the start of the doc. */
  readonly byteOffset: number;
  /** 1-based. */
  readonly lineNumber: number;
  /** 1-based, in code points; a bad byte counts one. */
  readonly column: number;
}

/** A matched stretch; `end` is exclusive. */
export interface MatchRange {
  readonly start: Location;
  readonly end: Location;
}

export interface Chunk {
  readonly content: string;
  readonly matchRanges: readonly MatchRange[];
  readonly contentStart: Location;
}

export interface FileResult {
  readonly fileName: { readonly text: string; readonly matchRanges: readonly MatchRange[] };
  readonly repository: string;
  readonly chunks: readonly Chunk[];
  readonly skipReason?: string;
}

/** What a query may have meant. */
export interface Hint {
  readonly message: string;
  /** The query as it may have been meant. */
  readonly query?: string;
}

/** The answer of `POST /api/search`; members that the command line only passes on are `unknown`. */
export interface SearchResponse {
  readonly stats: Readonly<Record<string, number | string>>;
  readonly files: readonly FileResult[];
  readonly repositoryInfo: readonly unknown[];
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
  readonly hints?: readonly Hint[];
}

/** A refused request: the error object of the API. Services reject with an Error that carries it. */
export interface ErrorObject {
  readonly statusCode: number;
  readonly errorCode: string;
  readonly message: string;
}

/** An event of a streamed search, as the API sends it. */
export type SearchEvent =
  | {
      readonly type: 'chunk';
      readonly stats: SearchResponse['stats'];
      readonly files: readonly FileResult[];
      readonly repositoryInfo: readonly unknown[];
    }
  | {
      readonly type: 'final';
      readonly accumulatedStats: SearchResponse['stats'];
      readonly isSearchExhaustive: boolean;
      readonly incompleteReasons?: readonly string[];
      readonly hints?: readonly Hint[];
    }
  | { readonly type: 'error'; readonly error: ErrorObject };

/** How a literal or an expression is looked up in the index. */
export type GramNode =
  | { readonly kind: 'and' | 'or'; readonly children: readonly GramNode[] }
  | { readonly kind: 'gram'; readonly gram: string; readonly blocks?: number }
  | { readonly kind: 'scan' };

/** A condition of a query's plan; counts are over the eligible shards. */
export type ConditionNode =
  | { readonly kind: 'all' | 'none' }
  | { readonly kind: 'and' | 'or' | 'not'; readonly children: readonly ConditionNode[] }
  | { readonly kind: 'filter'; readonly condition: string; readonly docs?: number }
  | {
      readonly kind: 'content';
      readonly condition: string;
      readonly grams: GramNode;
      readonly blocks?: number;
      readonly docs?: number;
      readonly shardsScanned?: number;
    };

/** What became of a shard in a search. */
export interface ShardRow {
  readonly id: string;
  readonly repository: string;
  readonly class: string;
  readonly reason: string;
  readonly docs: number;
  readonly estimatedBytes: number;
  /** Its share of the numbers in `stats`; how long the search took and waited has none. */
  readonly stats: Readonly<Record<string, number>>;
}

/** The answer of `POST /api/explain`. */
export interface Explanation {
  readonly query: { readonly canonical: string; readonly implicitRevision?: string };
  readonly plan: {
    readonly conditions: ConditionNode;
    readonly regexps: readonly {
      readonly expression: string;
      readonly engine: string;
      readonly requires: string;
      readonly begins?: string;
      readonly needles?: readonly string[];
    }[];
    readonly estimatedBytes: number;
    readonly verifiedBytes: number;
  };
  readonly totals: Readonly<Record<string, number>>;
  readonly shards: readonly ShardRow[];
  readonly stats: SearchResponse['stats'];
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
}

/** Something that answers searches: the local index or a daemon behind a URL. */
export interface SearchSource {
  /** Errors: rejects with an Error that is also an `ErrorObject`, or with any other Error. */
  search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse>;
  /**
   * The events of a search while it runs. Ends behind the `final` event, or rejects.
   * Errors: as `search`; also if the stream ends before its end.
   */
  stream(call: SearchCall, signal: AbortSignal): AsyncIterable<SearchEvent>;
  /** Runs a search and tells how. Errors: as `search`. */
  explain(call: SearchCall, signal: AbortSignal): Promise<Explanation>;
  close(): Promise<void>;
}

export type SourceMode = 'commits' | 'worktree';

export type IndexPhase = 'listing' | 'reading' | 'merging' | 'publishing' | 'symbols';

export interface IndexProgress {
  readonly phase: IndexPhase;
  readonly repo: string;
  readonly filesDone: number;
  /** 0 while it is not known. */
  readonly filesTotal: number;
  readonly bytesDone: number;
  /** 0 while it is not known. */
  readonly bytesTotal: number;
  readonly bytesPerSecond: number;
  /** Files whose content is left out so far. */
  readonly skipped: number;
}

export type ProgressListener = (progress: IndexProgress) => void;

/** Settings that every command takes. */
export interface CommonOptions {
  readonly dataDir: string;
  /** The configuration file. */
  readonly config?: string;
  readonly logLevel?: string;
}

export interface SourceOptions {
  /** Paths, as given. */
  readonly sources: readonly string[];
  /** Absent: `worktree` for a work tree, `commits` for a bare repository. */
  readonly mode?: SourceMode;
  /** Globs of further branches and tags to index; absent: as the repo has them; empty: none. */
  readonly branches?: readonly string[];
  readonly tags?: readonly string[];
  /** Who may see the repos at their host; absent: as the repos have it. */
  readonly visibility?: 'public' | 'internal' | 'private';
  /** Of which repos grants are asked for: none, those that are not public, all. Absent: as the repos have it. */
  readonly enforcement?: 'none' | 'restricted' | 'all';
}

export interface IndexOptions extends CommonOptions, SourceOptions {
  /** Only the repo with this name. */
  readonly repo?: string;
  /** Build again even if nothing changed. */
  readonly isForced: boolean;
  /** Find the symbols too, behind the rest. */
  readonly findsSymbols: boolean;
}

/** What one index job did. */
export interface IndexResult {
  readonly repo: string;
  readonly state: 'COMPLETED' | 'FAILED';
  /** Nothing had changed, so nothing was built. */
  readonly isUnchanged: boolean;
  /** Indexed branches and tags, the default revision included. */
  readonly revisionCount: number;
  readonly docCount: number;
  /** Bytes of content that can be searched. */
  readonly contentSize: number;
  /** Bytes of the shards written. */
  readonly shardSize: number;
  /** Skip reason to number of docs. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Rule to number of files and folders that it leaves out. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Reason to number of paths that are no docs. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What the user may not have meant, a sentence each. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
  /** Why it failed. */
  readonly error?: string;
}

export interface ServeOptions extends CommonOptions, SourceOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly baseUrl?: string;
  readonly isAnonymous: boolean;
  /** Absent: the number of cores. */
  readonly workers?: number;
}

/** A daemon that listens. */
export interface Serving {
  /** Address to reach it at, without a trailing slash. */
  readonly url: string;
  /** Requests must carry an API key. */
  readonly needsKey: boolean;
  /** One-time link where the first owner is made. */
  readonly setupUrl?: string;
  /** The first indexing of the sources; resolves when all jobs ended, failed ones too. */
  readonly indexed: Promise<readonly IndexResult[]>;
  /** Errors: none; the log tells what came of it. */
  readConfigurationAgain(): void;
  /** Lets running searches end (10 s at most), then stops. */
  close(): Promise<void>;
}

export interface InspectOptions {
  readonly path: string;
  /** List the docs too, all or those known by name only. */
  readonly docs?: 'all' | 'skipped';
  /** List the postings of this trigram too. */
  readonly trigram?: string;
}

export interface ShardReport {
  readonly path: string;
  readonly formatVersion: number;
  /** Bytes of the shard file. */
  readonly fileSize: number;
  /** Bytes of content held. */
  readonly contentSize: number;
  readonly docCount: number;
  readonly blockCount: number;
  readonly trigramCount: number;
  readonly repos: readonly { readonly repoId: number; readonly name: string }[];
  readonly sections: readonly {
    readonly name: string;
    readonly offset: number;
    readonly size: number;
    /** Hexadecimal. */
    readonly checksum: string;
  }[];
  readonly docs?: readonly {
    readonly docId: number;
    readonly path: string;
    readonly size: number;
    readonly language: string;
    readonly skipReason?: string;
  }[];
  readonly postings?: { readonly trigram: string; readonly blockIds: readonly number[] };
}

export interface VerifyOptions {
  readonly dataDir: string;
  /** Empty: all shards of the data directory. */
  readonly paths: readonly string[];
}

export interface ShardCheck {
  readonly path: string;
  /** One sentence each; empty: sound. */
  readonly problems: readonly string[];
}

export interface Versions {
  readonly product: string;
  readonly shardFormat: number;
  readonly api: string;
}

/** Does what the operator of an instance may do, whether or not its daemon runs. */
export interface Operator {
  /** Errors: what the operation refuses, with a message for people. */
  call<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>>;
  /** The bytes of a backup. */
  backup(input: BackupInput): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface OperatorOptions extends CommonOptions {
  /** The data directory is made if it is missing. */
  readonly isMaking: boolean;
}

export interface BackupOptions extends CommonOptions, BackupInput {
  readonly file: string;
}

export interface RestoreCall extends CommonOptions {
  readonly file: string;
  readonly isForced: boolean;
  readonly passphrase?: string;
  /** The instance secret; absent: that of the environment, if it has one. */
  readonly secret?: string;
}

/** Everything the commands need from the rest of the daemon. */
export interface CliServices {
  /** Opens the index of a data directory read-only; every repo is visible. Errors: no index there. */
  openLocalSearch(dataDir: string): Promise<SearchSource>;
  /** Resolves once the daemon listens. */
  serve(options: ServeOptions, onProgress: ProgressListener): Promise<Serving>;
  indexSources(
    options: IndexOptions,
    onProgress: ProgressListener,
  ): Promise<readonly IndexResult[]>;
  /** Errors: not a shard, unreadable. */
  inspectShard(options: InspectOptions): Promise<ShardReport>;
  /** Errors: a path that cannot be read; a damaged shard is a result, not an error. */
  verifyShards(options: VerifyOptions): Promise<readonly ShardCheck[]>;
  /** Errors: no data directory there, or somebody has it who takes no commands. */
  openOperator(options: OperatorOptions): Promise<Operator>;
  /** Errors: a file that cannot be written; those of openOperator. */
  backup(options: BackupOptions): Promise<{ readonly size: number }>;
  /** Errors: no backup, a damaged one, something to replace; nothing is changed then. */
  restore(options: RestoreCall): Promise<RestoreReport>;
  versions(): Versions;
}
