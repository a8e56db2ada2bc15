import assert from 'node:assert/strict';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findRipgrep } from '../../../src/agent/tools/ripgrep';
import type { ToolOutcome } from '../../../src/agent/tools/tool';
import { createToolSet } from '../../../src/agent/tools/toolSet';
import { makeToolFixture, type ToolFixture, toolCall } from '../../fakes/toolContext';

describe('Glob and Grep', () => {
  let fixture: ToolFixture;
  before(async () => {
    fixture = await makeToolFixture({}, { git: true });
    const files: Record<string, string> = {
      'a.ts': 'const needle = 1;\nline two\nneedle again\n',
      'src/b.ts': 'before\nNeedle\nafter\n',
      'src/c.js': 'nothing\n',
      'src/-x.ts': 'dash needle\n',
      '.hidden/d.ts': 'hidden needle\n',
      'built/e.ts': 'ignored needle\n',
      '.gitignore': 'built/\n',
      'with space.md': 'start {\n  end }\n',
    };
    let age = 1_000;
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(fixture.root, name, '..'), { recursive: true });
      await writeFile(join(fixture.root, name), text);
      await utimes(join(fixture.root, name), age, age++);
    }
  });
  after(() => fixture.dispose());

  const run = async (name: string, input: object, ripgrep = true): Promise<ToolOutcome> => {
    const context = ripgrep ? fixture.context : { ...fixture.context, ripgrepPath: '' };
    const set = createToolSet(['Glob', 'Grep'], context);
    return set.run({ type: 'tool_use', id: 't', name, input }, toolCall());
  };
  const glob = async (input: object, ripgrep = true): Promise<string> =>
    String((await run('Glob', input, ripgrep)).content);
  const grep = async (input: object, ripgrep = true): Promise<string> =>
    String((await run('Grep', input, ripgrep)).content);

  it('finds ripgrep where it was given, in PATH, or in our package', async () => {
    assert.notEqual(await findRipgrep(undefined, {}), '');
    assert.equal(await findRipgrep(process.execPath, {}), process.execPath);
    assert.notEqual(await findRipgrep('/missing', { PATH: 'relative:/nowhere' }), '/missing');
  });

  for (const ripgrep of [true, false]) {
    const how = ripgrep ? 'with ripgrep' : 'without ripgrep';
    const note = (text: string): string => text.replace(/\n?\(ripgrep was not found: [^)]*\)$/, '');

    it(`finds files newest first, without ignored ones and git's own, ${how}`, async () => {
      assert.equal(
        note(await glob({ pattern: '**/*.ts' }, ripgrep)),
        '.hidden/d.ts\nsrc/-x.ts\nsrc/b.ts\na.ts',
      );
      assert.equal(note(await glob({ pattern: '*.ts' }, ripgrep)), 'a.ts');
      assert.equal(note(await glob({ pattern: '*.ts', path: 'src' }, ripgrep)), 'src/-x.ts\nsrc/b.ts');
      assert.equal(note(await glob({ pattern: join(fixture.root, 'src', '*.js') }, ripgrep)), 'src/c.js');
      assert.equal(note(await glob({ pattern: '**/.git*' }, ripgrep)), '.gitignore');
      assert.match(await glob({ pattern: 'none*' }, ripgrep), /^No files found\./);
    });

    it(`greps names, lines and counts, relative to the root, ${how}`, async () => {
      assert.equal(note(await grep({ pattern: 'needle' }, ripgrep)), '.hidden/d.ts\nsrc/-x.ts\na.ts');
      const content = await grep({ pattern: 'needle', path: 'a.ts', output_mode: 'content' }, ripgrep);
      assert.equal(note(content), 'a.ts:1:const needle = 1;\na.ts:3:needle again');
      const bare = await grep(
        { pattern: 'needle', path: 'a.ts', output_mode: 'content', '-n': false },
        ripgrep,
      );
      assert.equal(note(bare), 'a.ts:const needle = 1;\na.ts:needle again');
      assert.equal(
        note(await grep({ pattern: 'needle', path: 'a.ts', output_mode: 'count' }, ripgrep)),
        'a.ts:2',
      );
      const ignoringCase = await grep({ pattern: 'needle', '-i': true, glob: '*.ts', path: 'src' }, ripgrep);
      assert.deepEqual(note(ignoringCase).split('\n').sort(), ['src/-x.ts', 'src/b.ts']);
      const around = { pattern: 'Needle', output_mode: 'content', path: 'src', '-C': 1 };
      assert.equal(
        note(await grep(around, ripgrep)),
        'src/b.ts-1-before\nsrc/b.ts:2:Needle\nsrc/b.ts-3-after',
      );
      const after = { pattern: 'Needle', output_mode: 'content', '-A': 1, '-B': 0 };
      assert.equal(note(await grep(after, ripgrep)), 'src/b.ts:2:Needle\nsrc/b.ts-3-after');
      assert.match(await grep({ pattern: 'absent' }, ripgrep), /^No matches\./);
      const limited = await grep({ pattern: 'needle', output_mode: 'content', head_limit: 2 }, ripgrep);
      assert.equal(limited.split('\n')[2], '(2 more; narrow the search or raise head_limit)');
    });

    it(`takes patterns that look like options, ${how}`, async () => {
      assert.match(await grep({ pattern: '--files' }, ripgrep), /^No matches/);
      assert.match(await grep({ pattern: '-e' }, ripgrep), /^No matches/);
      assert.match(
        await grep({ pattern: 'dash', path: 'src/-x.ts', output_mode: 'content' }, ripgrep),
        /dash needle/,
      );
      assert.match(await grep({ pattern: 'x', glob: '--pre=sh' }, ripgrep), /^No matches/);
    });

    it(`says plainly that an expression is wrong, ${how}`, async () => {
      const outcome = await run('Grep', { pattern: '(' }, ripgrep);
      assert.equal(outcome.isError, true);
      assert.match(String(outcome.content), /^Grep failed: .*(regex|unmatched|parenthes)/is);
    });

    it(`stays inside, ${how}`, async () => {
      for (const path of ['..', '/etc', fixture.main]) {
        assert.equal((await run('Grep', { pattern: 'x', path }, ripgrep)).isError, true);
        assert.equal((await run('Glob', { pattern: '*', path }, ripgrep)).isError, true);
      }
      assert.equal((await run('Glob', { pattern: '../*' }, ripgrep)).isError, true);
      assert.equal((await run('Glob', { pattern: '/etc/*' }, ripgrep)).isError, true);
      assert.equal((await run('Grep', { pattern: 'x', path: 'missing' }, ripgrep)).isError, true);
      assert.equal((await run('Glob', { pattern: '*', path: 'a.ts' }, ripgrep)).isError, true);
    });
  }

  it('says that it searched without ripgrep, and what is not possible then', async () => {
    assert.match(
      await grep({ pattern: 'needle' }, false),
      /\(ripgrep was not found: searched with git grep\)$/,
    );
    assert.match(await grep({ pattern: 'x', multiline: true }, false), /need ripgrep/);
    assert.match(await grep({ pattern: 'x', type: 'ts' }, false), /need ripgrep/);
  });

  it('matches across lines and by type', async () => {
    assert.equal(await grep({ pattern: 'start.*end', multiline: true }), 'with space.md');
    assert.equal(await grep({ pattern: 'nothing', type: 'js' }), 'src/c.js');
    assert.match(await grep({ pattern: 'x', type: 'nonsense' }), /^Grep failed: .*nonsense/);
  });

  it('reads no configuration of ripgrep', async () => {
    const config = join(fixture.folder, 'ripgreprc');
    await writeFile(config, '--glob=!*.ts\n');
    const context = {
      ...fixture.context,
      commandEnv: { ...fixture.context.commandEnv, RIPGREP_CONFIG_PATH: config },
    };
    const set = createToolSet(['Grep'], context);
    const outcome = await set.run(
      { type: 'tool_use', id: 't', name: 'Grep', input: { pattern: 'needle' } },
      toolCall(),
    );
    assert.match(String(outcome.content), /a\.ts/);
    assert.match(await readFile(config, 'utf8'), /glob/);
  });

  it('shows at most a hundred files, and says of how many', async () => {
    const many = join(fixture.root, 'many');
    await mkdir(many);
    for (let index = 0; index < 120; index++) await writeFile(join(many, `${index}.txt`), 'x');
    const lines = (await glob({ pattern: 'many/*.txt' })).split('\n');
    assert.equal(lines.length, 101);
    assert.equal(lines[100], '(100 of 120 files shown; narrow the pattern)');
  });
});
