import assert from 'node:assert/strict';
import { entrySchema, type NewEntry, type TranscriptEntry } from '../../../src/model/transcript';
import { ObservedCommands } from '../../../src/tasks/observedCommands';

const question: NewEntry = { type: 'question', questionId: 'q', toolUseId: 't', tool: 'Bash', command: 'ls' };
const answer: NewEntry = { type: 'answer', questionId: 'q', allowed: true, by: 'user' };
const note: NewEntry = { type: 'note', code: 'c', text: 'n' };

function at(second: number, entry: NewEntry): TranscriptEntry {
  const time = new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString();
  return entrySchema.parse({ ...entry, id: `e${second}`, parentId: null, at: time });
}

function waited(...entries: TranscriptEntry[]): number {
  const observed = new ObservedCommands();
  for (const entry of entries) observed.see(entry);
  return observed.waitedMs;
}

describe('What a Run waited for the user', () => {
  it('is the time from each question to its answer, and no other', () => {
    const entries = [
      at(1, note),
      at(5, question),
      at(9, answer),
      at(20, note),
      at(30, question),
      at(31, answer),
    ];
    assert.equal(waited(...entries), 5_000);
  });

  it('is nothing without a question, and not yet counted while one is open', () => {
    assert.equal(waited(at(1, note), at(2, answer)), 0);
    assert.equal(waited(at(1, question), at(9, note)), 0);
  });
});
