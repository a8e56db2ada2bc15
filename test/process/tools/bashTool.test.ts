import assert from 'node:assert/strict';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolContext, ToolOutcome } from '../../../src/agent/tools/tool';
import { createToolSet } from '../../../src/agent/tools/toolSet';
import { scrubbedEnvironment } from '../../../src/process/environment';
import { startKeyOf } from '../../../src/process/processTree';
import { makeToolFixture, type ToolFixture, toolCall } from '../../fakes/toolContext';

describe('Bash', () => {
  let fixture: ToolFixture;
  beforeEach(async () => {
    fixture = await makeToolFixture({}, { git: true });
    fixture.answer = { kind: 'allowed' };
  });
  afterEach(() => fixture.dispose());

  const run = (
    command: string,
    more: Partial<ToolContext> = {},
    rest: { timeout?: number; signal?: AbortSignal } = {},
  ): Promise<ToolOutcome> =>
    createToolSet(['Bash'], { ...fixture.context, ...more }).run(
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Bash',
        input: { command, ...(rest.timeout === undefined ? {} : { timeout: rest.timeout }) },
      },
      toolCall(3, rest.signal),
    );

  it('starts with the number of the call, runs in the root, ends with the exit code', async () => {
    const outcome = await run('pwd; echo err >&2; exit 4');
    assert.equal(outcome.content, `[call 3]\n${fixture.root}\nerr\n[exit code 4]`);
    assert.deepEqual([outcome.isError, outcome.exitCode, outcome.mayHaveChanged], [true, 4, true]);
    assert.equal((await run('printf x')).content, '[call 3]\nx\n[exit code 0]');
    assert.equal((await run('true')).content, '[call 3]\n[exit code 0]');
  });

  it('closes the input, shows no pager and opens no editor', async () => {
    assert.equal((await run('cat; read x || echo closed')).content, '[call 3]\nclosed\n[exit code 0]');
    await writeFile(join(fixture.root, 'f'), 'x');
    const outcome = await run(
      'git add f && git -c user.name=a -c user.email=b commit -q -m one && git log | head -1 && git -c user.name=a -c user.email=b commit --amend -q && echo done',
    );
    assert.match(String(outcome.content), /commit .*\ndone\n\[exit code 0\]$/s);
  });

  it('shows commands no key', async () => {
    const commandEnv = scrubbedEnvironment({
      ...process.env,
      ANTHROPIC_API_KEY: 'sk-ant-visible',
      COPY: 'sk-ant-visible',
    });
    const outcome = await run('env; cat /proc/self/environ', { commandEnv });
    assert.ok(!String(outcome.content).includes('sk-ant-visible'));
    assert.ok(!String(outcome.content).includes('ANTHROPIC'));
  });

  it('sends head and tail of a long output and keeps the whole of it in a file', async () => {
    const outcome = await run('echo first; seq 1 20000; echo last');
    const content = String(outcome.content);
    assert.ok(content.length < 31_000);
    assert.match(content, /^\[call 3\]\nfirst\n1\n2\n/);
    assert.match(content, /bytes left out[\s\S]*\nlast\n\[the whole output is in .*toolu_1\.txt/);
    assert.equal(outcome.outputPath, join(fixture.context.outDirectory, 'toolu_1.txt'));
    const whole = await readFile(String(outcome.outputPath), 'utf8');
    assert.equal(whole.split('\n').length, 20_003);
  });

  it('passes output on while the command runs', async () => {
    await run('echo one; sleep 0.12; echo two');
    const texts = fixture.live.map((event) => (event.type === 'tool.output' ? event.text : ''));
    assert.deepEqual(texts, ['one\n', 'two\n']);
    fixture.live.length = 0;
    await run('for i in $(seq 1 200); do echo $i; done');
    assert.ok(fixture.live.length < 10, `${fixture.live.length} events`);
  });

  it('ends a command at its timeout, with all that belongs to it, and says so', async () => {
    const outcome = await run('sleep 60 & echo $!; sleep 60', {}, { timeout: 200 });
    assert.match(String(outcome.content), /\[timed out after \d+ ms and was ended; signal SIGTERM\]$/);
    assert.deepEqual([outcome.isError, outcome.exitCode], [true, null]);
    const pid = Number(/\n(\d+)\n/.exec(String(outcome.content))?.[1]);
    assert.equal(await startKeyOf(pid), undefined);
  });

  it('ends a command when the Run is stopped, and says that it may have taken effect', async () => {
    const abort = new AbortController();
    const context = { onLive: () => abort.abort('user') };
    const outcome = await run('echo started; sleep 60', context, { signal: abort.signal });
    assert.match(
      String(outcome.content),
      /started\n\[stopped \(user\); may have taken effect; signal SIGTERM\]$/,
    );
  });

  it('asks for everything but the read-only list and the acceptance commands', async () => {
    const allowedCommands = ['npm test && echo ok', 'echo accepted'];
    await run('echo accepted', { allowedCommands });
    await run('git status', { allowedCommands });
    await run('ls -la', { allowedCommands });
    assert.deepEqual(fixture.asked, []);
    await run('echo accepted; rm x', { allowedCommands });
    await run('ls | cat', { allowedCommands });
    assert.deepEqual(fixture.asked, ['echo accepted; rm x', 'ls | cat']);
  });

  it('does not run what was denied, and gives the reason', async () => {
    fixture.answer = { kind: 'denied', reason: 'nobody is there to ask' };
    const outcome = await run('touch made');
    assert.equal(outcome.content, '[call 3]\nNot allowed: nobody is there to ask\n[not run]');
    assert.deepEqual([outcome.isError, outcome.exitCode, outcome.mayHaveChanged], [true, undefined, false]);
    await assert.rejects(readFile(join(fixture.root, 'made')));
  });

  it('never asks for what the guard refuses', async () => {
    const outcome = await run('git stash', { allowedCommands: ['git stash'] });
    assert.match(String(outcome.content), /^\[call 3\]\nRefused: git stash .*\n\[not run\]$/s);
    assert.deepEqual(fixture.asked, []);
  });

  it('runs nothing for a role without a shell', async () => {
    assert.match(String((await run('ls', { shell: 'none' })).content), /runs no commands/);
  });

  it('runs only one simple reading command for a read-only role, and never asks', async () => {
    const shell = 'readOnly';
    await writeFile(join(fixture.root, 'a b.txt'), 'one\ntwo\n');
    const outcome = await run("grep -c '' 'a b.txt'", { shell });
    assert.equal(outcome.content, '[call 3]\n2\n[exit code 0]');
    assert.equal(outcome.mayHaveChanged, false);
    assert.match(String((await run('rg two', { shell })).content), /a b\.txt:two|two/);
    for (const command of ['cat x > y', 'ls; rm x', "find . -name '*' -delete", 'npm test', 'ls $(rm x)']) {
      const refusal = await run(command, { shell, allowedCommands: [command] });
      assert.match(String(refusal.content), /Refused: .*one simple command/s, command);
    }
    assert.deepEqual(fixture.asked, []);
  });

  it('shows a read-only role the difference without running what the configuration names', async () => {
    const marker = join(fixture.folder, 'ran');
    await writeFile(join(fixture.root, 'f.txt'), 'one\n');
    await writeFile(join(fixture.root, '.gitattributes'), '*.txt diff=evil\n');
    await fixture.git('add', '-A');
    await fixture.git('commit', '-q', '-m', 'x');
    for (const key of ['diff.external', 'diff.evil.textconv', 'diff.evil.command', 'core.fsmonitor']) {
      await fixture.git('config', key, `touch '${marker}' #`);
    }
    await writeFile(join(fixture.root, 'f.txt'), 'two\n');
    for (const command of ['git diff', 'git show', 'git log -p', 'git status']) {
      assert.equal((await run(command, { shell: 'readOnly' })).exitCode, 0, command);
    }
    await assert.rejects(readFile(marker));
    // The same command without our care does run it.
    await fixture.git('diff').catch(() => undefined);
    await readFile(marker);
  });

  it('refuses to read through a link that leads outside', async () => {
    await symlink('/etc', join(fixture.root, 'link'));
    const outcome = await run('cat link/hostname', { shell: 'readOnly' });
    assert.match(String(outcome.content), /outside the Worktree/);
  });

  it('says that a command could not start when its folder is gone', async () => {
    const root = join(fixture.folder, 'gone');
    const outcome = await run('echo x', { root });
    assert.match(String(outcome.content), /\[not started: the folder of this Run is gone\]$/);
  });
});
