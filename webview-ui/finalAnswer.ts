import type { Answer } from '../src/model/answer';
import type { Row, RowBuilder } from './rows';

/** The texts of the last message become one card once the Run has its answer in sections. */
export function currentFinal(
  rows: readonly Row[],
  builder: RowBuilder,
  answer: Answer | undefined,
): readonly Row[] {
  const positions = new Set(builder.finalTexts);
  const [first] = builder.finalTexts;
  const row = first === undefined ? undefined : rows[first];
  if (answer === undefined || first === undefined || row === undefined) return rows;
  const text = builder.finalTexts
    .map((position) => rows[position])
    .flatMap((one) => (one?.kind === 'text' ? [one.text] : []))
    .join('\n\n');
  const { key, index, at, isShortened } = row;
  const card: Row = { kind: 'answer', answer, text, key, index, at, isShortened };
  return rows.flatMap((one, position) =>
    position === first ? [card] : positions.has(position) ? [] : [one],
  );
}
