/** A piece of a line of text; code stood between backticks. */
export interface InlinePart {
  readonly text: string;
  readonly isCode: boolean;
}

/** A line in which only `code` is dressed. A backtick without its other one stays as it is. */
export function inlineParts(text: string): InlinePart[] {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, position) => ({ text: part, isCode: position % 2 === 1 }))
    .filter((part) => part.text !== '');
}
