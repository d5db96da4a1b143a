// Whether a file is no text, by what the API gives as its text.

export function isBinary(text: string): boolean {
  return text.includes('\0');
}
