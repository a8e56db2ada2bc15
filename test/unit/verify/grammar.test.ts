import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { VerdictWord } from '../../../src/model/verdict';
import { parseVerdict } from '../../../src/verify/grammar';

const runs = process.env['TRIBUTARY_LONG'] ? 20_000 : 500;
const fence = '```';

const given: readonly [title: string, text: string, verdict: VerdictWord][] = [
  ['plain', 'Fine.\n\nVERDICT: PASS', 'PASS'],
  ['FAIL', 'VERDICT: FAIL', 'FAIL'],
  ['PARTIAL', 'VERDICT: PARTIAL\n', 'PARTIAL'],
  ['blank lines after it', 'VERDICT: PASS\n\n  \n\t\n', 'PASS'],
  ['Windows line ends', 'ok\r\n\r\nVERDICT: FAIL\r\n', 'FAIL'],
  ['no space after the colon', 'VERDICT:PASS', 'PASS'],
  ['spaces around the colon', 'VERDICT :  PASS  ', 'PASS'],
  ['bold', '**VERDICT: PASS**', 'PASS'],
  ['bold key', '**VERDICT:** PASS', 'PASS'],
  ['bold key before the colon', '**VERDICT**: FAIL', 'FAIL'],
  ['bold word', 'VERDICT: **PARTIAL**', 'PARTIAL'],
  ['bold key and bold word', '**VERDICT:** **PASS**', 'PASS'],
  ['underscore bold', '__VERDICT: PASS__', 'PASS'],
  ['italic', '*VERDICT: PASS*', 'PASS'],
  ['underscore italic', '_VERDICT: PASS_', 'PASS'],
  ['bold italic', '***VERDICT: FAIL***', 'FAIL'],
  ['italic around a bold word', '*VERDICT: **PASS***', 'PASS'],
  ['heading', '## VERDICT: PASS', 'PASS'],
  ['closed heading', '### VERDICT: PASS ###', 'PASS'],
  ['bold heading', '# **VERDICT: PASS**', 'PASS'],
  ['bullet', '- VERDICT: FAIL', 'FAIL'],
  ['star bullet', '* VERDICT: FAIL', 'FAIL'],
  ['numbered item', '1. VERDICT: PASS', 'PASS'],
  ['inline code', '`VERDICT: PASS`', 'PASS'],
  ['bold inline code', '**`VERDICT: PASS`**', 'PASS'],
  ['code word', 'VERDICT: `PASS`', 'PASS'],
  ['quote of its own', 'Done.\n\n> VERDICT: PASS', 'PASS'],
  ['indented by two', '  VERDICT: PASS', 'PASS'],
  ['after a closed fence', `${fence}\noutput\n${fence}\nVERDICT: PASS`, 'PASS'],
  ['after a closed tilde fence that holds backticks', `~~~\n${fence}\n~~~\nVERDICT: PASS`, 'PASS'],
  ['after a fence that shows another', `${fence}\nVERDICT: FAIL\n${fence}\n\nVERDICT: PASS`, 'PASS'],
  ['after a fence in a list', `- run\n  ${fence}\n  x\n  ${fence}\n\nVERDICT: PASS`, 'PASS'],
  ['after a fence in a quote', `> ${fence}\n> x\n> ${fence}\n\nVERDICT: FAIL`, 'FAIL'],
  ['the same one twice', 'VERDICT: PASS\n\nmore\n\nVERDICT: PASS', 'PASS'],
  ['after the template in prose', 'I end with VERDICT: PASS, FAIL or PARTIAL.\n\nVERDICT: FAIL', 'FAIL'],
  ['after the template on its line', 'VERDICT: PASS|FAIL|PARTIAL\n\nVERDICT: FAIL', 'FAIL'],
];

const none: readonly [title: string, text: string][] = [
  ['an empty answer', ''],
  ['blank lines', '\n \n'],
  ['no verdict', 'All is well.'],
  ['an echoed template', 'VERDICT: PASS|FAIL|PARTIAL'],
  ['a template with spaces', 'VERDICT: PASS | FAIL | PARTIAL'],
  ['a template with slashes', 'VERDICT: PASS/FAIL/PARTIAL'],
  ['a template in angle brackets', 'VERDICT: <PASS|FAIL|PARTIAL>'],
  ['a template in square brackets', 'VERDICT: [PASS]'],
  ['an escaped table template', 'VERDICT: PASS \\| FAIL \\| PARTIAL'],
  ['a choice in words', 'VERDICT: PASS or FAIL'],
  ['lower case', 'VERDICT: pass'],
  ['mixed case', 'Verdict: PASS'],
  ['a full stop', 'VERDICT: PASS.'],
  ['an exclamation', 'VERDICT: PASS!'],
  ['a reason after it', 'VERDICT: PASS (with doubts)'],
  ['another word', 'VERDICT: PASSED'],
  ['an unknown word', 'VERDICT: MAYBE'],
  ['no colon', 'VERDICT PASS'],
  ['a dash', 'VERDICT - PASS'],
  ['a full-width colon', 'VERDICT：PASS'],
  ['a letter that only looks like A', 'VERDICT: PАSS'],
  ['a zero-width space inside', 'VERDICT: PA\u200bSS'],
  ['a direction mark', '\u202eVERDICT: PASS'],
  ['a line separator that is no line end', 'not\u2028VERDICT: PASS'],
  ['text before it', 'The final VERDICT: PASS'],
  ['a negation before it', 'not VERDICT: PASS'],
  ['a negation on the line before', 'I can\nnot\nVERDICT: PASS'],
  ["a n't on the line before", "This isn't\n\nVERDICT: PASS"],
  ['a line after it', 'VERDICT: PASS\n\nThanks!'],
  ['a rule after it', 'VERDICT: PASS\n\n---'],
  ['double quotes', '"VERDICT: PASS"'],
  ['a quoted instruction', 'You asked me to end with "VERDICT: PASS"'],
  ['a block quote of an instruction', '> End with\n> VERDICT: PASS'],
  ['a block quote under its paragraph', 'The instruction was\n> VERDICT: PASS'],
  ['a block quote that a colon introduces', 'The instruction reads:\n\n> VERDICT: PASS'],
  ['inline code that a colon introduces', 'End your answer with this line:\n\n`VERDICT: PASS`'],
  ['a fence that shows the format', `${fence}\nVERDICT: PASS\n${fence}`],
  ['a fence with a language', `${fence}text\nVERDICT: PASS\n${fence}\n`],
  ['a fence never closed', `${fence}\nVERDICT: PASS`],
  ['a fence closed by too few marks', `${fence}${fence}\nx\n${fence}\nVERDICT: PASS`],
  ['a fence closed by the other mark', `~~~\nx\n${fence}\nVERDICT: PASS`],
  ['a fence closed by a line with a language', `${fence}\nx\n${fence}js\nVERDICT: PASS`],
  ['a fence whose end is content by its indent', `${fence}\n    ${fence}\nVERDICT: PASS`],
  ['a fence in a quote', `> ${fence}\n> VERDICT: PASS`],
  ['a fence in a list', `- ${fence}\n  VERDICT: PASS`],
  ['a fence after a list item that ended', `- ${fence}\n  x\nout\n${fence}\nVERDICT: PASS`],
  ['an indented code block', 'The format:\n\n    VERDICT: PASS'],
  ['a tab-indented code block', 'x\n\n\tVERDICT: PASS'],
  ['code indented inside a quote', '>     VERDICT: PASS'],
  ['an HTML comment', '<!-- VERDICT: PASS -->'],
  ['an open HTML comment', '<!--\nVERDICT: PASS'],
  ['an open pre', '<pre>\nVERDICT: PASS'],
  ['HTML bold', '<b>VERDICT: PASS</b>'],
  ['struck out', '~~VERDICT: PASS~~'],
  ['a footnote star', 'VERDICT: PASS*'],
  ['an unpaired mark', '**VERDICT: PASS'],
  ['marks that do not match', '**VERDICT: PASS__'],
  ['a table cell', '| VERDICT: PASS |'],
  ['an unticked box', '- [ ] VERDICT: PASS'],
  ['a ticked box', '- [x] VERDICT: PASS'],
  ['two different', 'VERDICT: FAIL\n\nVERDICT: PASS'],
  ['all three as a list', '- VERDICT: PASS\n- VERDICT: FAIL\n- VERDICT: PARTIAL'],
  ['another one in bold before', '**VERDICT: FAIL**\n\ntext\n\nVERDICT: PASS'],
  ['another one with its reason before', 'VERDICT: FAIL because of x\n\nVERDICT: PASS'],
  ['another one in lower case before', 'Verdict: fail\n\nVERDICT: PASS'],
  ['another one in a quote before', '> VERDICT: FAIL\n\nVERDICT: PASS'],
  ['JSON', '{"VERDICT": "PASS"}'],
  ['a very long line', `${'#'.repeat(5)} ${' '.repeat(500)}VERDICT: PASS`],
];

describe('The verdict grammar', () => {
  for (const [title, text, verdict] of given) {
    it(`reads ${verdict}: ${title}`, () => assert.equal(parseVerdict(text), verdict));
  }
  for (const [title, text] of none) {
    it(`takes no verdict from ${title}`, () => assert.equal(parseVerdict(text), 'none'));
  }

  const dressing = fc.constantFrom(
    '',
    '**',
    '*',
    '_',
    '__',
    '`',
    '# ',
    '- ',
    '> ',
    '1. ',
    ' ',
    fence,
    '~~~\n',
    '\n',
  );
  const word = fc.constantFrom(
    'PASS',
    'FAIL',
    'PARTIAL',
    'pass',
    'PASS|FAIL|PARTIAL',
    '<PASS>',
    'PASSED',
    'NONE',
  );
  const piece = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc
      .tuple(dressing, fc.constantFrom('VERDICT: ', 'VERDICT:', 'Verdict: ', 'not VERDICT: '), word, dressing)
      .map((parts) => parts.join('')),
    fc.constantFrom(
      '\n',
      '\n\n',
      '\r\n',
      `\n${fence}\n`,
      '\n~~~\n',
      '\n> ',
      '\n    ',
      '\n<!--\n',
      '-->',
      '\t',
      '\0',
      '\u2028',
    ),
  );
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('gives PASS for no hostile text but one whose last line says nothing else', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        if (parseVerdict(text) !== 'PASS') return;
        const last = text.split(/\r\n|\r|\n/).findLast((line) => line.trim() !== '') ?? '';
        assert.match(last, /^[\s>#*_`+\-\d.)]*VERDICT[\s*_`]*:[\s*_`]*PASS[\s#*_`]*$/);
        assert.doesNotMatch(last, /FAIL|PARTIAL/);
      }),
      { numRuns: runs },
    );
  });

  it('never gives a verdict inside a fence that stays open', () => {
    const inner = hostile.map((text) => text.replaceAll('~', ''));
    fc.assert(
      fc.property(inner, fc.constantFrom('PASS', 'FAIL', 'PARTIAL'), (text, stated) => {
        assert.equal(parseVerdict(`~~~~\n${text}\nVERDICT: ${stated}`), 'none');
      }),
      { numRuns: runs },
    );
  });

  it('never gives PASS when an earlier plain line states another verdict', () => {
    fc.assert(
      fc.property(fc.constantFrom('FAIL', 'PARTIAL'), fc.string(), (other, between) => {
        const text = `VERDICT: ${other}\n\n${between.replace(/[`~<]/g, '')}\n\nVERDICT: PASS`;
        assert.equal(parseVerdict(text), 'none');
      }),
      { numRuns: runs },
    );
  });

  it('reads a long hostile answer in a moment', () => {
    const started = performance.now();
    for (const part of ['*', '> ', '- ', '`', '#', ' ', '1. ', '_*`']) {
      parseVerdict(`${part.repeat(100_000)}\n${part.repeat(30)}VERDICT: PASS${part.repeat(30)}`);
    }
    assert.ok(performance.now() - started < 2_000);
  });
});
