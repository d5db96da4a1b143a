// The part of the WebAssembly interface in use: Node.js types lack it, and the browser's library is not loaded.

declare namespace WebAssembly {
  type ExportValue = (...values: never[]) => unknown;

  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }

  interface MemoryDescriptor {
    /** Pages of 64 KiB. */
    initial: number;
    maximum?: number;
    shared?: boolean;
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBufferLike;
  }

  type Imports = Record<string, Record<string, Memory | ((...values: number[]) => unknown)>>;

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, ExportValue>>;
  }

  class RuntimeError extends Error {}

  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
