// Hears from the system when a file of a shard in service is changed by somebody else: nobody writes to them once they
// have their names. One that lost its size goes out of service at once, as touching what was cut off would end the process;
// of another one the content is checked soon. One that is gone stays in service, as its bytes are mapped, and that is said:
// the next start will not find it. Beside this, sizes are looked at now and then (engine/host/space.ts), for file systems that
// tell nothing, and changes of other machines.

import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { type ShardFault, sizeProblemOf } from '../../engine/host/space.ts';
import type { LiveShard } from '../../engine/search/snapshot.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';

export interface ShardWatchOptions {
  /** Absolute path; of all files of shards. */
  readonly folder: string;
  /** The shards in service. */
  readonly shards: () => readonly LiveShard[];
  /** Checks every byte of a shard, and tells of damage itself. */
  readonly check: (shard: LiveShard) => Promise<void>;
  readonly onDamage: (shardId: string, reason: string, fault: ShardFault) => void;
  readonly log: Log;
}

export class ShardWatch {
  readonly #options: ShardWatchOptions;
  readonly #watcher: FSWatcher | undefined;
  #known: readonly LiveShard[] = [];
  #byName = new Map<string, LiveShard>();
  /** Changed files, by name, whose shards are to be checked. */
  readonly #changed = new Set<string>();
  /** Files that were gone when somebody last looked, by name. */
  readonly #gone = new Set<string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ShardWatchOptions) {
    this.#options = options;
    try {
      this.#watcher = watch(options.folder, { persistent: false }, (kind, name) => {
        if (name === null) return;
        // What comes, goes, or gets another name leaves the bytes of mapped files alone.
        if (kind === 'change') this.#take(name);
        else this.#lookFor(name);
      });
      this.#watcher.on('error', (error) => this.#warn(error));
    } catch (error) {
      this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    this.#options.log.warn('the system does not tell of changes of shard files', {
      error: messageOf(error),
    });
  }

  /** What does not work as it should, in words for the owner; empty: nothing. */
  get degradations(): readonly string[] {
    for (const name of this.#gone) if (!this.#isGone(name)) this.#gone.delete(name);
    const count = this.#gone.size;
    return count === 0
      ? []
      : [`${count} files of shards are gone: they are searched until the daemon stops`];
  }

  /** False too for files that no shard in service has: the daemon removes those itself. */
  #isGone(name: string): boolean {
    return this.#shardOf(name) !== undefined && !existsSync(path.join(this.#options.folder, name));
  }

  /** Says that a file is gone, once; all of them go with their folder, of which the system tells by its own name. */
  #lookFor(name: string): void {
    const isFolder = name === path.basename(this.#options.folder);
    // Asked for first, as it brings the names up to date.
    const shard = this.#shardOf(name);
    for (const one of isFolder ? this.#byName.keys() : shard === undefined ? [] : [name]) {
      if (this.#gone.has(one) || !this.#isGone(one)) continue;
      this.#gone.add(one);
      this.#options.log.error(
        'a file of a shard is gone; it is searched until the daemon stops, and made again at the next start',
        { shardId: this.#shardOf(one)?.shardId, name: one },
      );
    }
  }

  #take(name: string): void {
    const shard = this.#shardOf(name);
    if (shard === undefined) return;
    const problem = sizeProblemOf(shard);
    if (problem !== undefined) {
      this.#options.onDamage(shard.shardId, problem.reason, problem.fault);
      return;
    }
    this.#changed.add(name);
    this.#running ??= this.#work();
  }

  /** The shard in service with a file of this name. */
  #shardOf(name: string): LiveShard | undefined {
    const shards = this.#options.shards();
    if (this.#known !== shards) {
      this.#known = shards;
      this.#byName = new Map(
        shards.flatMap((shard) =>
          [shard, ...(shard.symbols === undefined ? [] : [shard.symbols])].map((file) => [
            path.basename(file.path),
            shard,
          ]),
        ),
      );
    }
    return this.#byName.get(name);
  }

  async #work(): Promise<void> {
    for (const name of this.#changed) {
      if (this.#isClosed) break;
      this.#changed.delete(name);
      const shard = this.#shardOf(name);
      if (shard === undefined) continue;
      const { shardId } = shard;
      this.#options.log.warn('somebody changed a file of a shard; checking it', { shardId, name });
      await this.#options.check(shard).catch((error: unknown) => this.#warn(error));
    }
    this.#running = undefined;
  }

  /** Resolves when no check is under way; checks that wait are ended by who runs them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watcher?.close();
    await this.#running;
  }
}
