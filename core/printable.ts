/** C0 and C1 controls, line separators, and bidirectional control characters. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes untrusted text safe for a terminal: control characters that could move the cursor, change colours, the window
 * title or the text direction are escaped (`\x1b`, `\u202e`), newlines and tabs too, so that it stays one line.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}
