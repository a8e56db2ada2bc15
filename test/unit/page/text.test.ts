import assert from 'node:assert/strict';
import { makeRunId } from '../../../src/model/ids';
import { elapsedOf, elapsedText } from '../../../webview-ui/elapsed';
import { inlineParts } from '../../../webview-ui/inlineCode';
import { countsOf, lineDiff } from '../../../webview-ui/lineDiff';
import { firstLines, longLine } from '../../../webview-ui/safeText';
import { terminalSpans } from '../../../webview-ui/terminalText';
import { toolLine } from '../../../webview-ui/toolLine';
import { clockText, countText, durationText, usageText } from '../../../webview-ui/words';
import { factsFor } from './support/facts';

const plain = (output: string): string =>
  terminalSpans(output)
    .map(({ text }) => text)
    .join('');

describe('Output of a terminal', () => {
  it('keeps its colours as classes of the page', () => {
    assert.deepEqual(terminalSpans('a \u001b[31mred\u001b[1m bold\u001b[0m z'), [
      { text: 'a ', classes: '' },
      { text: 'red', classes: 't-red' },
      { text: ' bold', classes: 't-red t-bold' },
      { text: ' z', classes: '' },
    ]);
  });

  it('shows colours a theme does not have as the nearest of those it has', () => {
    assert.equal(terminalSpans('\u001b[38;5;196mx')[0]?.classes, 't-red');
    assert.equal(terminalSpans('\u001b[38;2;20;150;50mx')[0]?.classes, 't-green');
    assert.equal(terminalSpans('\u001b[94mx')[0]?.classes, 't-bright-blue');
  });

  for (const [what, sequence] of [
    ['a title', '\u001b]0;title\u0007'],
    ['a title ended by ST', '\u001b]0;title\u001b\\'],
    ['a link', '\u001b]8;;https://example.com\u0007'],
    ['clearing the screen', '\u001b[2J'],
    ['moving the cursor', '\u001b[10;20H'],
    ['an 8-bit CSI', '\u009b2J'],
    ['a device string', '\u001bPq#0\u001b\\'],
    ['a private mode', '\u001b[?25l'],
    ['a clipboard write', '\u001b]52;c;aGk=\u0007'],
    ['a reset', '\u001bc'],
    ['a style with a private mark', '\u001b[>4;1m'],
  ] as const)
    it(`drops ${what}`, () => assert.equal(plain(`a${sequence}b`), 'ab'));

  it('shows what reorders or hides text instead of obeying it', () => {
    assert.equal(plain('a\u202eb\u0008c'), 'a\\u202eb\\x08c');
  });

  it('never hides text: neither concealed nor in the colour of its ground', () => {
    assert.deepEqual(terminalSpans('\u001b[8msecret\u001b[0m'), [{ text: 'secret', classes: '' }]);
    assert.equal(terminalSpans('\u001b[30;40mblack')[0]?.classes, '');
  });

  it('keeps of a line that was written over only the last state, and knows line ends of Windows', () => {
    assert.equal(plain('10%\r50%\r100%\ndone\r\nnext\r'), '100%\ndone\nnext');
  });

  it('copes with a sequence that is cut off, and with a long hostile text', () => {
    assert.equal(plain('text\u001b['), 'text');
    const startedAt = Date.now();
    terminalSpans('\u001b]'.repeat(50_000));
    terminalSpans(`\u001b[${'1;'.repeat(50_000)}`);
    assert.ok(Date.now() - startedAt < 5_000);
  });
});

describe('A difference of lines', () => {
  const kinds = (before: string, after: string): string[] => lineDiff(before, after).map(({ kind }) => kind);

  it('tells removed, added and equal lines', () => {
    assert.deepEqual(lineDiff('a\nb\n', 'a\nc\n'), [
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'c' },
    ]);
  });

  it('of a new text is all added', () => {
    assert.deepEqual(kinds('', 'a\nb'), ['added', 'added']);
    assert.deepEqual(kinds('', ''), []);
  });

  it('leaves long equal stretches out', () => {
    const lines = Array.from({ length: 30 }, (_, number) => `line ${number}\n`).join('');
    const shown = lineDiff(`${lines}old\n${lines}`, `${lines}new\n${lines}`);
    assert.deepEqual(
      shown.map(({ kind, text }) => (kind === 'gap' ? text : kind)),
      ['27', 'same', 'same', 'same', 'removed', 'added', 'same', 'same', 'same', '27'],
    );
    assert.deepEqual(countsOf(shown), { added: 1, removed: 1 });
  });

  it('of two great texts that have nothing in common comes soon', () => {
    const text = (word: string): string =>
      Array.from({ length: 20_000 }, (_, number) => `${word}${number}\n`).join('');
    const startedAt = Date.now();
    const shown = lineDiff(text('a'), text('b'));
    assert.deepEqual(countsOf(shown), { added: 20_000, removed: 20_000 });
    assert.ok(Date.now() - startedAt < 8_000);
  });
});

describe('Texts of the page', () => {
  it('are cut to their first lines, and long lines to their beginning', () => {
    assert.deepEqual(firstLines('a\nb\nc', 2), { lines: ['a', 'b'], total: 3, isCut: true });
    assert.deepEqual(firstLines('a\nb', 2), { lines: ['a', 'b'], total: 2, isCut: false });
    const { lines, isCut } = firstLines('x'.repeat(longLine + 1), 2);
    assert.deepEqual([lines[0]?.length, isCut], [longLine + 1, true]);
  });

  it('say durations, times and counts briefly', () => {
    assert.deepEqual(
      [durationText(12), durationText(1_234), durationText(75_000)],
      ['12 ms', '1.2 s', '1:15'],
    );
    assert.deepEqual([clockText(5_000), clockText(3_661_000)], ['0:05', '1:01:01']);
    assert.deepEqual([countText(12_345), countText(4_500_000)], ['12.3k', '4.5M']);
  });

  it('say how much of what was sent came from the cache', () => {
    assert.equal(
      usageText({ requests: 2, input: 100, output: 50, cacheRead: 900, cacheWrite: 0 }),
      `2 requests · ${countText(1_000)} tokens in · 50 out · 90% from cache`,
    );
  });

  it('sum up a tool call in a line, whatever the model sent', () => {
    assert.deepEqual(toolLine('Bash', { command: 'npm\ntest \u202e' }), {
      icon: 'terminal',
      verb: '$',
      subject: 'npm test \\u202e',
    });
    assert.equal(toolLine('Edit', { file_path: 'src/a.ts' }).path, 'src/a.ts');
    for (const input of [undefined, null, 7, 'text', [], { file_path: {} }, { todos: 'x' }])
      for (const name of ['Read', 'Bash', 'TodoWrite', 'ReportFinding', 'Unknown', '__proto__'])
        assert.equal(typeof toolLine(name, input).subject, 'string');
  });
});

describe('A line with code in it', () => {
  it('is taken apart at pairs of backticks, and one without its other stays', () => {
    const shown = (text: string) =>
      inlineParts(text).map(({ text: part, isCode }) => (isCode ? [part] : part));
    assert.deepEqual(shown('Check failed: `npm test` (exit code 1)'), [
      'Check failed: ',
      ['npm test'],
      ' (exit code 1)',
    ]);
    assert.deepEqual(shown('`a``b`'), [['a'], ['b']]);
    assert.deepEqual(shown('it`s ` half `'), ['it', ['s '], ' half `']);
    assert.deepEqual(shown('``'), ['``']);
    assert.deepEqual(shown(''), []);
  });

  it('is taken apart soon however many backticks it has', () => {
    assert.equal(inlineParts('`'.repeat(200_001)).length, 1);
  });
});

describe('The time of a Run', () => {
  const second = (count: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, count)).toISOString();
  const { run } = factsFor(makeRunId('20260102T030405678', 1), 1);
  const seconds = (ms: number): string => `${ms / 1_000} s`;

  it('stands still while it waits for the user, and tells the waiting beside it', () => {
    const waiting = { ...run, startedAt: second(0), waitedMs: 3_000, waitingSince: second(14) };
    for (const now of [20, 30]) {
      const elapsed = elapsedOf(waiting, Date.parse(second(now)));
      assert.ok(elapsed);
      assert.equal(elapsedText(elapsed, seconds), `11 s, waited ${now - 11} s`);
    }
  });

  it('says nothing of waiting where there was none to speak of, and nothing before it has begun', () => {
    const end = { reason: 'done', message: '', at: second(14) };
    const elapsed = elapsedOf({ ...run, startedAt: second(0), waitedMs: 0, end }, 0);
    assert.ok(elapsed);
    assert.equal(elapsedText(elapsed, seconds), '14 s');
    const { startedAt: _, ...waits } = run;
    assert.equal(elapsedOf(waits, 0), undefined);
  });
});
