import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { mendRequest, parseAnswer } from '../../../src/agent/context/answer';
import { answerSchema } from '../../../src/model/answer';

const whole = `SUMMARY: Fixed the off-by-one in paging.
It now counts from zero.

CHANGES:
- src/page.ts: starts at zero
- \`src/with space.ts\` — new module
- **docs/paging.md** - says so

EVIDENCE:
- src/page.ts:12-14: the loop
- \`src/page.ts:40\` the caller
- [src/a.ts](src/a.ts#L3-L5) tests
- src/b.ts

RISKS:
- Callers that
  subtract one themselves
- None of the tests covers page 0

BLOCKERS: None.
`;

describe('parseAnswer', () => {
  it('reads the five sections', () => {
    assert.deepEqual(parseAnswer(whole), {
      summary: 'Fixed the off-by-one in paging.\nIt now counts from zero.',
      changes: [
        { path: 'src/page.ts', note: 'starts at zero' },
        { path: 'src/with space.ts', note: 'new module' },
        { path: 'docs/paging.md', note: 'says so' },
      ],
      evidence: [
        { path: 'src/page.ts', line: 12, endLine: 14, note: 'the loop' },
        { path: 'src/page.ts', line: 40, note: 'the caller' },
        { path: 'src/a.ts', line: 3, endLine: 5, note: 'tests' },
        { path: 'src/b.ts', note: '' },
      ],
      risks: ['Callers that subtract one themselves', 'None of the tests covers page 0'],
      blockers: [],
      missing: [],
    });
  });

  for (const [name, dress] of [
    ['bold, colon inside', (word: string) => `**${word}:**`],
    ['bold, colon outside', (word: string) => `**${word}**:`],
    ['a heading', (word: string) => `## ${word}`],
    ['a heading with bold', (word: string) => `### **${word}**`],
    ['mixed case with a colon', (word: string) => `${word[0]}${word.slice(1).toLowerCase()}:`],
    ['the bare word on its line', (word: string) => word],
  ] as const) {
    it(`reads headings dressed as ${name}`, () => {
      const text = whole.replace(
        /^(SUMMARY|CHANGES|EVIDENCE|RISKS|BLOCKERS):\s*/gm,
        (_all, word: string) => `${dress(word)}\n`,
      );
      const answer = parseAnswer(text);
      assert.deepEqual(answer.missing, []);
      assert.equal(answer.changes.length, 3);
      assert.deepEqual(answer.blockers, []);
      assert.match(answer.summary, /^Fixed the off-by-one/);
    });
  }

  it('lists the sections that are not there, and keeps what is', () => {
    const answer = parseAnswer('SUMMARY: did it\n\nRISKS:\n- one');
    assert.deepEqual(answer.missing, ['CHANGES', 'EVIDENCE', 'BLOCKERS']);
    assert.deepEqual(answer.risks, ['one']);
    assert.deepEqual(parseAnswer('Just prose.').missing.length, 5);
  });

  it('takes no word in prose or in a code fence for a heading', () => {
    const answer = parseAnswer(
      'Risks are everywhere\n```\nSUMMARY: template\nCHANGES: x\n```\nSummary of it all',
    );
    assert.equal(answer.missing.length, 5);
  });

  it('counts the last of several answers in one text', () => {
    assert.equal(parseAnswer(`SUMMARY: draft\nCHANGES: None.\n\n${whole}`).changes.length, 3);
  });

  it('leaves the verdict line out of the last section', () => {
    assert.deepEqual(parseAnswer('BLOCKERS:\n- no network\n\n**VERDICT: PARTIAL**').blockers, ['no network']);
    assert.deepEqual(parseAnswer('BLOCKERS: None.\nVERDICT: PASS').blockers, []);
  });

  for (const item of ['None.', '**None**', '- none', 'N/A', '- No risks.']) {
    it(`reads "${item}" as nothing`, () => {
      assert.deepEqual(parseAnswer(`RISKS:\n${item}`).risks, []);
    });
  }

  for (const [item, expected] of [
    ['C:\\shop\\a.ts:7 windows', { path: 'C:\\shop\\a.ts', line: 7, note: 'windows' }],
    ['src/a.ts:3:9: a column', { path: 'src/a.ts', line: 3, note: 'a column' }],
    ['`src/a.ts` lines 3–8: a range', { path: 'src/a.ts', line: 3, endLine: 8, note: 'a range' }],
    ['src/a.ts:9-3 backwards', { path: 'src/a.ts', line: 9, note: 'backwards' }],
    ['my docs/a b.md:4: spaces', { path: 'my docs/a b.md', line: 4, note: 'spaces' }],
    ['pkg/__init__.py:2 underscores', { path: 'pkg/__init__.py', line: 2, note: 'underscores' }],
    ['__main__.py: at the start', { path: '__main__.py', note: 'at the start' }],
    ['src/a.ts:0 no such line', { path: 'src/a.ts', note: 'no such line' }],
  ] as const) {
    it(`reads the place in "${item}"`, () => {
      assert.deepEqual(parseAnswer(`EVIDENCE:\n- ${item}`).evidence, [expected]);
    });
  }

  it('never throws, and always gives what the schema allows', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'SUMMARY:',
        '**CHANGES**',
        '- `a`:1',
        '```',
        'EVIDENCE: x:1-0',
        '- :',
        'VERDICT: PASS',
        '',
      ),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        answerSchema.parse(parseAnswer(lines.join('\n')));
      }),
      { numRuns: 500 },
    );
  });

  it('stays fast on long hostile text', () => {
    const started = performance.now();
    parseAnswer(
      `EVIDENCE:\n- ${'a.b '.repeat(20_000)}\n${'*'.repeat(50_000)}SUMMARY\n${' '.repeat(50_000)}x`,
    );
    assert.ok(performance.now() - started < 1_000);
  });
});

describe('mendRequest', () => {
  it('asks for nothing when the form is there', () => {
    assert.equal(mendRequest(whole), undefined);
  });

  it('names what is missing', () => {
    assert.match(
      mendRequest('SUMMARY: x\nCHANGES: None.\nRISKS: None.') ?? '',
      /lacks: EVIDENCE, BLOCKERS\./,
    );
  });
});
