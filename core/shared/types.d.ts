// The number types of AssemblyScript, for TypeScript's view of the shared constants.
declare type u32 = number;
