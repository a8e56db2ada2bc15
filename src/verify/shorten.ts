/** Characters of output that a Check keeps. */
export const longestObserved = 4_000;

/** Keeps the head and the tail of a text, and says how much of the middle is missing. */
export function headAndTail(text: string, longest = longestObserved): string {
  if (text.length <= longest) return text;
  const note = (left: number): string => `\n… ${left} characters left out …\n`;
  const kept = longest - note(text.length).length;
  const head = wholeCharacters(text.slice(0, Math.ceil(kept / 2)));
  const tail = wholeCharacters(text.slice(text.length - Math.floor(kept / 2)));
  return head + note(text.length - head.length - tail.length) + tail;
}

/** Drops half a surrogate pair at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
