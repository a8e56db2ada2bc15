import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type ToolName, toolNames } from '../../../src/agent/tools/tool';
import { createToolSet } from '../../../src/agent/tools/toolSet';
import { makeToolFixture, type ToolFixture, toolCall } from '../../fakes/toolContext';

describe('the tools of a Run', () => {
  let fixture: ToolFixture;
  before(async () => {
    fixture = await makeToolFixture();
  });
  after(() => fixture.dispose());

  const run = (names: readonly ToolName[], name: string, input: unknown, more = {}) =>
    createToolSet(names, { ...fixture.context, ...more }).run(
      { type: 'tool_use', id: 't', name, input },
      toolCall(),
    );

  it('have the input names of the contract', () => {
    const names = Object.fromEntries(
      createToolSet(toolNames, fixture.context).specs.map((spec) => {
        const properties = Object.keys(Object(spec.input_schema['properties']));
        const required = [spec.input_schema['required'] ?? []].flat().map(String);
        return [spec.name, properties.map((name) => (required.includes(name) ? name : `${name}?`)).join(' ')];
      }),
    );
    assert.deepEqual(names, {
      Read: 'file_path offset? limit?',
      Write: 'file_path content',
      Edit: 'file_path old_string new_string replace_all?',
      Glob: 'pattern path?',
      Grep: 'pattern path? glob? type? output_mode? -i? -n? -A? -B? -C? head_limit? multiline?',
      Bash: 'command timeout? description?',
      TodoWrite: 'todos',
      Diff: 'path?',
      ReportCheck: 'title command call? exitCode observed result',
      ReportFinding: 'path line endLine? severity title detail call?',
    });
  });

  it('are described in the same bytes each time, small, and as plain JSON Schema', () => {
    const writing: ToolName[] = ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', 'TodoWrite', 'Diff'];
    const text = JSON.stringify(createToolSet(writing, fixture.context).specs);
    assert.equal(text, JSON.stringify(createToolSet(writing, { ...fixture.context, root: '/other' }).specs));
    assert.ok(!text.includes('$schema'));
    assert.ok(text.length < 4_000, `${text.length} characters`);
  });

  it('know which of them run commands', () => {
    const set = createToolSet(['Read', 'Bash'], fixture.context);
    assert.deepEqual(
      [set.isCommand('Bash'), set.isCommand('Read'), set.isCommand('Nope')],
      [true, false, false],
    );
  });

  it('answer an unknown tool with what there is', async () => {
    const outcome = await run(['Read', 'Glob'], 'Bogus', {});
    assert.deepEqual(
      [outcome.isError, outcome.content],
      [true, 'There is no tool Bogus here. There are: Read, Glob.'],
    );
  });

  it('do not run outside the cap of the role', async () => {
    const outcome = await run(['Read'], 'Write', { file_path: 'x', content: 'y' });
    assert.equal(outcome.isError, true);
    assert.match(String(outcome.content), /no tool Write/);
    assert.equal((await run(['Read'], 'constructor', {})).isError, true);
  });

  it('answer a wrong input in plain words', async () => {
    const outcome = await run(['Read'], 'Read', { file_path: 7, limit: -1 });
    assert.equal(outcome.isError, true);
    assert.match(
      String(outcome.content),
      /^Read was not run, its input is wrong: file_path: .*string.*; limit: /,
    );
    assert.equal((await run(['Read'], 'Read', null)).isError, true);
  });

  it('keep the plan of a Run', async () => {
    const todos = [
      { content: 'one', status: 'completed', activeForm: 'Doing one' },
      { content: 'two', status: 'in_progress', activeForm: 'Doing two' },
      { content: 'three', status: 'pending', activeForm: 'Doing three' },
    ];
    const outcome = await run(['TodoWrite'], 'TodoWrite', { todos });
    assert.equal(outcome.content, '[x] one\n[~] two\n[ ] three');
    assert.deepEqual(fixture.todos, todos);
  });

  it('show the difference, capped, by path, and say when there is none', async () => {
    const asked: (string | undefined)[] = [];
    const diff = async (path?: string): Promise<string> => {
      asked.push(path);
      return path === 'big'
        ? 'line\n'.repeat(20_000)
        : path === 'fails'
          ? Promise.reject(new Error('broken'))
          : '';
    };
    assert.equal((await run(['Diff'], 'Diff', {}, { diff })).content, 'No changes.');
    const inside = join(fixture.root, 'src', 'a');
    assert.equal((await run(['Diff'], 'Diff', { path: inside }, { diff })).content, 'No changes in src/a.');
    const big = String((await run(['Diff'], 'Diff', { path: 'big' }, { diff })).content);
    assert.ok(big.length < 61_000);
    assert.match(big, /\n\(\d+ characters more; ask with path, file by file\)$/);
    assert.match(String((await run(['Diff'], 'Diff', { path: 'fails' }, { diff })).content), /broken/);
    assert.equal((await run(['Diff'], 'Diff', { path: '../x' }, { diff })).isError, true);
    assert.deepEqual(asked, [undefined, 'src/a', 'big', 'fails']);
  });

  it('record checks and findings', async () => {
    const check = { title: 't', command: 'npm test', call: 2, exitCode: 1, observed: 'o', result: 'fail' };
    assert.equal((await run(['ReportCheck'], 'ReportCheck', check)).content, 'Check recorded.');
    assert.deepEqual(fixture.checks, [check]);
    const finding = {
      path: join(fixture.root, 'src/a.ts'),
      line: 3,
      endLine: 4,
      severity: 'error',
      title: 't',
      detail: 'd',
    };
    assert.equal((await run(['ReportFinding'], 'ReportFinding', finding)).content, 'Finding recorded.');
    assert.deepEqual(fixture.findings, [
      { location: { path: 'src/a.ts', line: 3, endLine: 4 }, severity: 'error', title: 't', detail: 'd' },
    ]);
  });

  it('record no finding that has no place inside', async () => {
    const finding = { path: 'a.ts', line: 1, severity: 'error', title: 't', detail: 'd' };
    for (const wrong of [
      { path: '../a.ts' },
      { line: 0 },
      { line: 2, endLine: 1 },
      { severity: 'bad' },
      { title: '' },
    ]) {
      const outcome = await run(['ReportFinding'], 'ReportFinding', { ...finding, ...wrong });
      assert.equal(outcome.isError, true, JSON.stringify(wrong));
    }
    assert.equal(fixture.findings.length, 1);
  });

  it('turn a fault of their own into an answer', async () => {
    const onTodos = (): never => {
      throw new Error('boom');
    };
    const outcome = await run(['TodoWrite'], 'TodoWrite', { todos: [] }, { onTodos });
    assert.deepEqual([outcome.isError, outcome.content], [true, 'TodoWrite failed: boom']);
  });
});
