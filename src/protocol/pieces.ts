import type { Piece } from './transcriptApi';

/** Characters of all pieces together. */
export function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** What is left when so many characters are taken from the start. */
export function withoutStart(pieces: readonly Piece[], characters: number): Piece[] {
  let left = characters;
  return pieces.flatMap(({ kind, text }) => {
    const rest = text.slice(Math.min(left, text.length));
    left -= text.length - rest.length;
    return rest === '' ? [] : [{ kind, text: rest }];
  });
}

/** Neighbours of one kind become one piece. */
export function joinPieces(known: readonly Piece[], more: readonly Piece[]): Piece[] {
  const all = [...known];
  for (const piece of more) {
    const last = all.at(-1);
    if (last?.kind === piece.kind) all[all.length - 1] = { kind: last.kind, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}
