import assert from 'node:assert/strict';
import fc from 'fast-check';
import { makeRunId, type RunId } from '../../../src/model/ids';
import { entrySchema, type TranscriptEntry } from '../../../src/model/transcript';
import type { Facts, PageEntry, PageSnapshot } from '../../../src/protocol/transcriptApi';
import { emptyState, type PageAction, type PageState, reduce } from '../../../webview-ui/state';
import { factsFor } from './support/facts';

const runId = makeRunId('20260102T030405678', 1);
const otherRun = makeRunId('20260102T030405678', 2);

function note(number: number): TranscriptEntry {
  return entrySchema.parse({
    type: 'note',
    code: 'c',
    text: `n${number}`,
    id: `e${number + 1}`,
    parentId: null,
    at: '',
  });
}

function entry(index: number, type: TranscriptEntry['type'] = 'note', more: object = {}): PageEntry {
  const base = type === 'note' ? note(index) : { type, id: `e${index + 1}`, parentId: null, at: '', ...more };
  return { index, entry: entrySchema.parse(base), isShortened: false };
}

const range = (from: number, to: number): PageEntry[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, position) => entry(from + position));

const facts = (serial: number, run: RunId = runId): Facts => factsFor(run, serial);

function snapshot(from: number, to: number, serial = 1, run: RunId = runId): PageAction {
  const one: PageSnapshot = {
    runId: run,
    revision: to,
    entries: range(from, to),
    facts: facts(serial, run),
    outputs: [],
  };
  return { type: 'snapshot', snapshot: one };
}

function append(from: number, to: number, run: RunId = runId): PageAction {
  return { type: 'append', append: { runId: run, revision: to, entries: range(from, to) } };
}

const known = (...actions: PageAction[]): PageState => actions.reduce(reduce, emptyState);
const indices = (state: PageState): number[] => state.entries.map(({ index }) => index);

describe('What the page knows', () => {
  it('is nothing before a snapshot, which it asks for', () => {
    assert.equal(emptyState.needsSnapshot, true);
    assert.equal(known(append(0, 2)).needsSnapshot, true);
    assert.deepEqual(indices(known(append(0, 2))), []);
  });

  it('is the snapshot, then what is appended', () => {
    const state = known(snapshot(0, 2), append(2, 4));
    assert.deepEqual([indices(state), state.revision, state.needsSnapshot], [[0, 1, 2, 3], 4, false]);
  });

  it('asks for a snapshot when a revision is missing, and goes on with it', () => {
    const gap = known(snapshot(0, 2), append(3, 4));
    assert.deepEqual([indices(gap), gap.needsSnapshot], [[0, 1], true]);
    const mended = reduce(gap, snapshot(0, 5, 2));
    assert.deepEqual([indices(mended), mended.needsSnapshot], [[0, 1, 2, 3, 4], false]);
  });

  it('ignores what comes twice, and takes the new part of what overlaps', () => {
    const state = known(snapshot(0, 2), append(2, 4), append(2, 4), append(1, 5), snapshot(0, 3, 1));
    assert.deepEqual(indices(state), [0, 1, 2, 3, 4]);
  });

  it('begins anew where a snapshot leaves a gap behind what was known', () => {
    const state = known(snapshot(0, 2), snapshot(10, 12, 2));
    assert.deepEqual([indices(state), state.from, state.revision], [[10, 11], 10, 12]);
  });

  it('grows upwards by earlier windows without a gap', () => {
    const state = known(
      snapshot(8, 10),
      { type: 'earlier', runId, entries: range(5, 8) },
      { type: 'earlier', runId, entries: range(5, 8) },
      { type: 'earlier', runId, entries: range(0, 4) },
      { type: 'earlier', runId: otherRun, entries: range(0, 5) },
    );
    assert.deepEqual([indices(state), state.from], [[5, 6, 7, 8, 9], 5]);
  });

  it('keeps the facts with the highest serial', () => {
    const state = known(
      snapshot(0, 1, 5),
      { type: 'facts', runId, facts: facts(7) },
      { type: 'facts', runId, facts: facts(6) },
    );
    assert.equal(state.facts?.serial, 7);
  });

  it('goes to another Run by a later snapshot only, and then forgets the old one', () => {
    const gone = known(snapshot(0, 3, 1), snapshot(0, 1, 2, otherRun));
    assert.deepEqual([gone.runId, indices(gone)], [otherRun, [0]]);
    assert.equal(reduce(gone, snapshot(0, 3, 1)), gone);
    assert.equal(reduce(gone, append(3, 4)), gone);
  });

  it('puts a whole entry in the place of its shortened one', () => {
    const short = { ...entry(1), isShortened: true };
    const state = known(
      {
        type: 'snapshot',
        snapshot: { runId, revision: 2, entries: [entry(0), short], facts: facts(1), outputs: [] },
      },
      { type: 'whole', runId, entry: entry(1) },
    );
    assert.equal(state.entries[1]?.isShortened, false);
  });

  it('in whatever order messages come, and however often, is the file once the asked snapshot is there', () => {
    const message = fc.record({
      isSnapshot: fc.boolean(),
      from: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: 0, max: 8 }),
      times: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
        let state = emptyState;
        let serial = 1;
        for (const { isSnapshot, from, length, times } of messages) {
          for (let time = 0; time < times; time += 1)
            state = reduce(
              state,
              isSnapshot ? snapshot(from, from + length, serial) : append(from, from + length),
            );
          serial += 1;
          assertConsistent(state);
        }
        // The host answers the page's asking with where the file is by then.
        state = reduce(state, snapshot(20, 40, serial));
        assertConsistent(state);
        assert.deepEqual([state.revision, state.needsSnapshot], [40, false]);
      }),
    );
  });
});

/** Entries are those of the file, from `from` to `revision`, each once. */
function assertConsistent(state: PageState): void {
  assert.deepEqual(
    indices(state),
    Array.from({ length: state.revision - state.from }, (_, position) => state.from + position),
  );
  for (const { index, entry: one } of state.entries)
    assert.equal(one.type === 'note' && one.text, `n${index}`);
}

describe('Live text on the page', () => {
  const begun = known({
    type: 'snapshot',
    snapshot: {
      runId,
      revision: 1,
      entries: [entry(0, 'message.started', { turn: 1 })],
      facts: facts(1),
      outputs: [],
    },
  });
  const stream = (message: number, offset: number, text: string): PageAction => ({
    type: 'stream',
    stream: { runId, live: { message, offset, pieces: [{ kind: 'text', text }] }, outputs: [] },
  });
  const textOf = (state: PageState): string | undefined =>
    state.live?.pieces.map(({ text }) => text).join('|');
  const run = (...actions: PageAction[]): PageState => actions.reduce(reduce, begun);

  it('grows piece by piece; a piece that comes twice or overlaps adds only what is new', () => {
    assert.equal(
      textOf(run(stream(0, 0, 'Hel'), stream(0, 3, 'lo'), stream(0, 3, 'lo'), stream(0, 1, 'ello!'))),
      'Hello!',
    );
  });

  it('keeps thinking and text apart, in their order', () => {
    const state = run(
      {
        type: 'stream',
        stream: {
          runId,
          live: {
            message: 0,
            offset: 0,
            pieces: [
              { kind: 'thinking', text: 'hm' },
              { kind: 'text', text: 'a' },
            ],
          },
          outputs: [],
        },
      },
      stream(0, 3, 'b'),
    );
    assert.deepEqual(state.live?.pieces, [
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'ab' },
    ]);
  });

  it('that has a gap makes the page ask for a snapshot', () => {
    assert.equal(run(stream(0, 0, 'a'), stream(0, 5, 'b')).needsSnapshot, true);
    assert.equal(run(stream(0, 5, 'b')).needsSnapshot, true);
  });

  it('goes when its message is there, and does not come back by a late piece', () => {
    const message = { type: 'message', turn: 1, model: 'm', content: [], stopReason: 'end_turn' };
    const ended = run(stream(0, 0, 'Hello'), {
      type: 'append',
      append: { runId, revision: 2, entries: [entry(1, 'message', message)] },
    });
    assert.equal(ended.live, undefined);
    assert.equal(reduce(ended, stream(0, 5, ' late')).live, undefined);
  });

  it('of a message whose beginning was not appended yet is kept', () => {
    assert.equal(textOf(run(stream(3, 0, 'next'))), 'next');
  });

  it('of a running tool goes with its result', () => {
    const output = (offset: number, text: string): PageAction => ({
      type: 'stream',
      stream: { runId, outputs: [{ toolUseId: 't', offset, text }] },
    });
    const running = run(output(0, 'ab'), output(2, 'cd'), output(1, 'bcde'));
    assert.equal(running.outputs.get('t')?.text, 'abcde');
    const result = { turn: 1, toolUseId: 't', name: 'Bash', content: '', isError: false, durationMs: 1 };
    const ended = reduce(running, {
      type: 'append',
      append: { runId, revision: 2, entries: [entry(1, 'tool.ended', result)] },
    });
    assert.equal(ended.outputs.size, 0);
    assert.equal(reduce(ended, output(5, 'f')).outputs.size, 0);
  });
});
