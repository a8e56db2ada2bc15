import assert from 'node:assert/strict';
import { makeRunId } from '../../../src/model/ids';
import { entrySchema, type NewEntry } from '../../../src/model/transcript';
import type { PageEntry } from '../../../src/protocol/transcriptApi';
import { listRows, newsPosition, rowOfEntry } from '../../../webview-ui/listRows';
import { type Row, RowBuilder } from '../../../webview-ui/rows';
import { emptyState } from '../../../webview-ui/state';
import { factsFor } from './support/facts';

const at = '2026-01-02T03:04:05.678Z';
const runId = makeRunId('20260102T030405678', 1);

function entries(...list: NewEntry[]): PageEntry[] {
  return list.map((entry, index) => ({
    index,
    entry: entrySchema.parse({ ...entry, id: `e${index + 1}`, parentId: null, at }),
    isShortened: false,
  }));
}

const rowsOf = (...list: NewEntry[]): readonly Row[] => new RowBuilder().build(entries(...list));
const kinds = (rows: readonly { kind: string }[]): string[] => rows.map(({ kind }) => kind);

const begun: NewEntry = { type: 'message.started', turn: 1 };
const message = (content: readonly object[], stopReason = 'tool_use'): NewEntry => ({
  type: 'message',
  turn: 1,
  model: 'm',
  content: content.map((block) => ({ type: '', ...block })),
  stopReason,
});
const started = (toolUseId: string): NewEntry => ({
  type: 'tool.started',
  turn: 1,
  toolUseId,
  name: 'Bash',
  input: { command: 'ls' },
  call: 1,
});
const ended = (toolUseId: string, more: object = {}): NewEntry => ({
  type: 'tool.ended',
  turn: 1,
  toolUseId,
  name: 'Bash',
  content: 'out',
  isError: false,
  exitCode: 0,
  durationMs: 5,
  ...more,
});

describe('Rows of the transcript', () => {
  it('show a message as its thinking, text and tool calls, in order', () => {
    const rows = rowsOf(
      begun,
      message([
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
      ]),
    );
    assert.deepEqual(kinds(rows), ['thinking', 'text', 'tool']);
  });

  it('make one row of a call, its start and its result', () => {
    const rows = rowsOf(
      message([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }]),
      started('t1'),
      ended('t1', { isError: true, exitCode: 3 }),
    );
    assert.equal(rows.length, 1);
    const [row] = rows;
    assert.ok(row?.kind === 'tool');
    assert.deepEqual([row.state, row.exitCode, row.result, row.call], ['failed', 3, 'out', 1]);
  });

  it('show a call that came again under the same id as another one', () => {
    const rows = rowsOf(
      started('t'),
      ended('t', { content: 'first' }),
      started('t'),
      ended('t', { content: 'second' }),
    );
    assert.deepEqual(
      rows.map((row) => row.kind === 'tool' && row.result),
      ['first', 'second'],
    );
  });

  it('show a result whose call was not loaded, and a call that was never run', () => {
    assert.deepEqual(kinds(rowsOf(ended('t'))), ['tool']);
    const [row] = rowsOf(
      message([{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }]),
      ended('t1', { content: 'not run', isError: true, exitCode: undefined }),
    );
    assert.ok(row?.kind === 'tool' && row.startedAt === undefined && row.result === 'not run');
  });

  it('join a question with its answer', () => {
    const question: NewEntry = {
      type: 'question',
      questionId: 'q',
      toolUseId: 't',
      tool: 'Bash',
      command: 'ls',
    };
    const open = rowsOf(question);
    assert.ok(open[0]?.kind === 'question' && open[0].answer === undefined);
    const answered = rowsOf(question, { type: 'answer', questionId: 'q', allowed: false, by: 'user' });
    assert.equal(answered.length, 1);
    assert.ok(answered[0]?.kind === 'question' && answered[0].answer?.isAllowed === false);
  });

  it('count a retry down until the next attempt', () => {
    const retry: NewEntry = { type: 'retry', attempt: 1, code: 'overloaded', message: '', waitMs: 2_000 };
    const cut: NewEntry = { type: 'message.cut', turn: 1, partialText: 'half', reason: 'cutStream' };
    const waiting = rowsOf(begun, cut, retry);
    assert.ok(waiting[1]?.kind === 'retry' && waiting[1].isWaiting);
    assert.equal(waiting[1].until, '2026-01-02T03:04:07.678Z');
    const again = rowsOf(begun, cut, retry, begun);
    assert.ok(again[1]?.kind === 'retry' && !again[1].isWaiting);
  });

  it('show a call that its Run’s end cut off as stopped, and not as failed', () => {
    const [row] = rowsOf(started('t'), ended('t', { isError: true, isStopped: true, exitCode: null }));
    assert.ok(row?.kind === 'tool' && row.state === 'stopped');
  });

  it('call no answer cut off where none had begun', () => {
    const cut: NewEntry = { type: 'message.cut', turn: 1, partialText: ' ', reason: 'unreachable' };
    const state: NewEntry = { type: 'state', state: 'failed', reason: 'unreachable' };
    assert.deepEqual(kinds(rowsOf(begun, cut, state)), ['state']);
  });

  it('show a message that began and never ended as cut', () => {
    assert.deepEqual(kinds(rowsOf(begun, begun)), ['cut']);
    assert.deepEqual(kinds(rowsOf(begun, { type: 'state', state: 'interrupted' })), ['cut', 'state']);
  });

  it('are the same built at once or entry by entry, and what did not change stays the same object', () => {
    const all = entries(
      begun,
      message([
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't', name: 'Bash', input: {} },
      ]),
      started('t'),
      ended('t'),
      { type: 'note', code: 'c', text: 'n' },
    );
    const builder = new RowBuilder();
    let rows: readonly Row[] = [];
    for (let count = 1; count <= all.length; count += 1) rows = builder.build(all.slice(0, count));
    assert.deepEqual(rows, new RowBuilder().build(all));
    const before = builder.build(all);
    assert.equal(
      builder.build([...all, ...entries(begun).map((one) => ({ ...one, index: 5 }))])[0],
      before[0],
    );
  });

  it('are built anew when earlier entries come before them', () => {
    const all = entries(started('t'), ended('t'));
    const builder = new RowBuilder();
    builder.build(all.slice(1));
    assert.deepEqual(builder.build(all), new RowBuilder().build(all));
  });
});

describe('The list of a Run', () => {
  const state = (list: readonly PageEntry[], facts = factsFor(runId, 1)) => ({
    ...emptyState,
    runId,
    revision: list.length,
    entries: list,
    facts,
  });
  const completed = factsFor(runId, 1, {
    run: {
      ...factsFor(runId, 1).run,
      state: 'completed',
      end: { reason: 'done', message: '', at },
      answer: { summary: 's', changes: [], evidence: [], risks: [], blockers: [], missing: [] },
    },
  });

  it('ends with what is being written while a message is open', () => {
    assert.deepEqual(kinds(listRows(state(entries(begun)), new RowBuilder())), ['live']);
  });

  it('says that a Run without entries is being prepared', () => {
    assert.deepEqual(kinds(listRows(state([]), new RowBuilder())), ['preparing']);
  });

  it('shows the last message of a completed Run as its answer, then how it ended', () => {
    const list = entries(
      message([{ type: 'text', text: 'a' }]),
      message(
        [
          { type: 'text', text: 'SUMMARY: s' },
          { type: 'text', text: 'more' },
        ],
        'end_turn',
      ),
      { type: 'state', state: 'completed' },
    );
    const rows = listRows(state(list, completed), new RowBuilder());
    assert.deepEqual(kinds(rows), ['text', 'answer', 'end']);
    assert.ok(rows[1]?.kind === 'answer' && rows[1].text === 'SUMMARY: s\n\nmore');
  });

  it('has its news in the answer, of a verification in the Verdict, and has none while the Run lives', () => {
    const rows = listRows(
      state(entries(message([{ type: 'text', text: 'SUMMARY: s' }], 'end_turn')), {
        ...completed,
        verdict: { verdict: 'FAIL', runId, tree: 'a', at, checks: [], findings: [], reasons: [] },
      }),
      new RowBuilder(),
    );
    assert.deepEqual(kinds(rows), ['answer', 'end', 'verdict']);
    assert.equal(newsPosition(rows, completed), 0);
    assert.equal(newsPosition(rows, { ...completed, run: { ...completed.run, kind: 'verify' } }), 2);
    assert.equal(newsPosition(rows, factsFor(runId, 1)), -1);
  });

  it('shows an open message of a Run that has ended as cut', () => {
    const killed = factsFor(runId, 1, {
      run: { ...completed.run, state: 'interrupted', end: { reason: 'crash', message: '', at } },
    });
    assert.deepEqual(kinds(listRows(state(entries(begun), killed), new RowBuilder())), ['cut', 'end']);
  });

  it('finds the row of an entry, also of a result', () => {
    const list = entries(message([{ type: 'text', text: 'a' }]), started('t'), ended('t'), {
      type: 'note',
      code: '',
      text: 'n',
    });
    const rows = listRows(state(list), new RowBuilder());
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => rowOfEntry(rows, index)),
      [0, 1, 1, 2],
    );
  });
});
