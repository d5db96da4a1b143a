// Drops undefined members of an object.

/** Members that may be undefined become optional. */
type OmitUndefined<Members> = {
  readonly [Key in keyof Members as undefined extends Members[Key] ? never : Key]: Members[Key];
} & {
  readonly [Key in keyof Members as undefined extends Members[Key] ? Key : never]?: Exclude<
    Members[Key],
    undefined
  >;
};

export function omitUndefined<Members extends object>(members: Members): OmitUndefined<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Safety: the dropped members are optional in the type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as OmitUndefined<Members>;
}
