// Whether a file is binary, judged by the text that the API returns.

export function isBinary(text: string): boolean {
  return text.includes('\0');
}
