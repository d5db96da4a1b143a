// The types of AssemblyScript that shared constants have, as TypeScript sees them.
declare type u32 = number;
declare type StaticArray<Value> = readonly Value[];
