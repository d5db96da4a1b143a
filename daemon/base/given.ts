// Members that may be missing: an object that is made of them has those alone that there are.

/** Optional where they may be undefined. */
type Given<Members> = {
  readonly [Key in keyof Members as undefined extends Members[Key] ? never : Key]: Members[Key];
} & {
  readonly [Key in keyof Members as undefined extends Members[Key] ? Key : never]?: Exclude<
    Members[Key],
    undefined
  >;
};

/** The members that are not undefined. */
export function given<Members extends object>(members: Members): Given<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Safety: what is left out is what the type calls optional.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Given<Members>;
}
