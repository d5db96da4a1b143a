// Converts text to what both engines can store. PostgreSQL refuses the character NUL, and neither keeps half of a surrogate
// pair; both become the replacement character before anything is compared or stored.

/** The text with U+FFFD in place of what cannot be stored. */
export function storable(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

export function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}
