// AssemblyScript types used by shared constants, declared for TypeScript.
declare type u32 = number;
declare type StaticArray<Value> = readonly Value[];
