import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { readOnlyCommand } from '../../../../src/agent/tools/readOnlyCommand';
import { makeToolFixture, type ToolFixture } from '../../../fakes/toolContext';

describe('the read-only list of commands', () => {
  let fixture: ToolFixture;
  before(async () => {
    fixture = await makeToolFixture();
    await mkdir(join(fixture.root, 'src'));
    await writeFile(join(fixture.root, 'src', 'a.ts'), 'x');
    await symlink('/etc', join(fixture.root, 'link'));
  });
  after(() => fixture.dispose());

  const check = (command: string) => readOnlyCommand(command, fixture.context);
  const allowed = async (command: string): Promise<readonly string[]> => {
    const answer = await check(command);
    assert.equal(answer.kind, 'allowed', `${command}: ${answer.kind === 'not' ? answer.reason : ''}`);
    return answer.kind === 'allowed' ? [answer.file, ...answer.args] : [];
  };
  const not = async (command: string): Promise<void> => {
    assert.equal((await check(command)).kind, 'not', command);
  };

  it('takes simple commands of the list', async () => {
    for (const command of [
      'ls',
      'ls -la src',
      "cat 'src/a.ts'",
      'head -n 20 src/a.ts',
      'tail -20 src/a.ts',
      'wc -l src/a.ts',
      'grep -rn "/api/users" src',
      "grep -E 'a|b' src/a.ts # comment",
      'rg --type ts "foo.*bar" src',
      'rg -A3 -B 3 needle',
      "find . -name '*.ts' -type f",
      "find src -maxdepth 2 '(' -name a -o -name b ')'",
      'git status --short',
      'git log --oneline -20 --author=me',
      "git log --format='%h %s' HEAD~3..HEAD -- src",
      'git diff HEAD~1 --stat',
      'git show HEAD:src/a.ts',
      'git --no-pager log',
      "ls 'a  b' src/\\(x\\)",
    ]) {
      await allowed(command);
    }
  });

  it('gives back exactly the words that were looked at, safe ones put in front', async () => {
    assert.deepEqual(await allowed(`grep -n "a b" 'src/a.ts'`), ['grep', '-n', 'a b', 'src/a.ts']);
    assert.deepEqual(await allowed('rg x'), ['rg', '--no-config', 'x']);
    const git = await allowed('git diff');
    assert.ok(git.includes('--no-ext-diff') && git.includes('--no-textconv') && git.includes('--no-pager'));
    assert.ok(git.join(' ').includes('core.fsmonitor=false'));
  });

  it('refuses more than one command, and everything that a shell would do', async () => {
    for (const command of [
      'ls; rm x',
      'ls && rm x',
      'ls || rm x',
      'ls | sh',
      'ls & rm x',
      'ls &',
      'ls\nrm x',
      'ls $(rm x)',
      'ls `rm x`',
      'ls "$(rm x)"',
      'ls <(rm x)',
      'cat src/a.ts > b',
      'cat < /etc/passwd',
      'cat <<< x',
      'ls 2>&1',
      'A=1 ls',
      'GIT_DIR=/x git log',
      'PATH=. ls',
      '(ls)',
      '{ ls; }',
      '! ls',
      'time ls',
      'if ls; then ls; fi',
      'f() { ls; }',
      'ls *',
      'ls ?',
      'ls {a,b}',
      'ls ~',
      'ls ~root',
      'ls $HOME',
      'ls "$HOME"',
      "ls $'a'",
      '$X',
      'xargs ls',
      'env ls',
      'sudo ls',
      'command ls',
      'exec ls',
      '/bin/ls',
      './ls',
      'LS',
      'l\u200bs',
      'ｌｓ',
      'ls\u00a0-la',
      'ls\0',
      'ls\r rm',
      'ls \u001b[2J',
      '',
      '#',
      'echo x',
      'sed -n 1p src/a.ts',
    ]) {
      await not(command);
    }
  });

  it('takes characters that only look like operators for what they are: text', async () => {
    assert.deepEqual(await allowed('ls a；rm'), ['ls', 'a；rm']);
    assert.deepEqual(await allowed('ls a＆＆b'), ['ls', 'a＆＆b']);
    assert.deepEqual(await allowed('ls “a”'), ['ls', '“a”']);
  });

  it('refuses options that run, write, follow, or read from elsewhere', async () => {
    for (const command of [
      'find . -exec rm {} \\;',
      'find . -execdir rm {} +',
      'find . -ok rm {} \\;',
      'find . -okdir rm {} \\;',
      'find . -delete',
      'find . -fprint x',
      'find . -fprint0 x',
      'find . -fprintf x %p',
      'find . -fls x',
      'find -L .',
      'find . -follow',
      'find -files0-from x',
      'git -c alias.log=x log',
      'git -C src log',
      'git --git-dir=x log',
      'git --exec-path=x log',
      'git -p log',
      'git log --output=x',
      'git log --outp=x',
      'git diff --output x',
      'git diff --ext-diff',
      'git diff --ext',
      'git show --textconv',
      'git show --textc',
      'git log --show-signature',
      "git log --format='%G?'",
      'git diff -Oorder',
      'git diff --no-index /etc/passwd src/a.ts',
      'git push',
      'git stash',
      'git branch',
      'git grep x',
      'git',
      'rg --pre cat x',
      'rg --pre=cat x',
      'rg --hostname-bin=x y',
      'rg -z x',
      'rg --search-zip x',
      'rg -L x',
      'rg --ignore-file=x y',
      'rg -f x',
      'grep -f x src',
      'grep --file=x src',
      'grep --fil=x src',
      'grep -R x .',
      'tail -f src/a.ts',
      'tail -F src/a.ts',
      'tail -fn3 src/a.ts',
      'tail --follow=name src/a.ts',
      'wc --files0-from=x',
      'wc --files0=x',
    ]) {
      await not(command);
    }
  });

  it('refuses every path outside, by whatever road', async () => {
    for (const command of [
      'cat /etc/passwd',
      'cat ../x',
      'cat src/../../x',
      'cat link/passwd',
      'ls link',
      'head -n 1 /etc/passwd',
      'grep root /etc/passwd',
      'grep -e root /etc/passwd',
      'grep -ne root /etc/passwd',
      'grep -eroot /etc/passwd',
      'grep --regexp=root /etc/passwd',
      'grep --rege=root /etc/passwd',
      'grep -- root /etc/passwd',
      'rg --files /etc',
      'rg --files-with-matches x /etc',
      'rg -e x /etc',
      'rg x --ignore-file=/etc/passwd',
      'find / -name x',
      'find . /etc -name x',
      'find link/',
      'git diff --no-index src/a.ts ../x',
      `cat ${'../'.repeat(30)}etc/passwd`,
    ]) {
      await not(command);
    }
    await not(`cat '${fixture.main}/src/x'`);
  });

  it('allows nothing but the words of an allowed command, whatever is mixed in', async () => {
    const harmful = fc.constantFrom(
      ';',
      '&&',
      '||',
      '|',
      '&',
      '\n',
      '$(id)',
      '`id`',
      '> x',
      '< x',
      '>> x',
      '2>x',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
      '${X}',
      '*',
      '-exec',
      '-delete',
      '--output=x',
      '-f',
      '../..',
      '/etc',
      '~',
    );
    const base = fc.constantFrom(
      'ls',
      'cat src/a.ts',
      'git log',
      'find .',
      'grep x src',
      'rg x',
      'tail src/a.ts',
    );
    const words = fc.array(fc.oneof(harmful, fc.constantFrom('src', '-n', "'q'", '"d"', '--', 'x')), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(base, words, async (start, more) => {
        const answer = await check([start, ...more].join(' '));
        if (answer.kind === 'not') return;
        const program = [
          answer.file,
          answer.file === 'git' ? answer.args.find((arg) => /^(log|status)$/.test(arg)) : '',
        ];
        assert.ok(start.startsWith(program.join(' ').trim().split(' ')[0] ?? '-'));
        const args = answer.args;
        assert.ok(!args.some((arg) => /^-(exec|delete)$/.test(arg) && answer.file === 'find'));
        assert.ok(!args.some((arg) => /[;|&><`\n]|\$\(/.test(arg)), JSON.stringify(answer));
        assert.ok(!args.includes('--output=x') || answer.file !== 'git');
        const operands = answer.file === 'grep' || answer.file === 'rg' ? args.slice(2) : args;
        const isPattern = (arg: string) => args.filter((other) => !other.startsWith('-'))[0] === arg;
        assert.ok(
          !operands.some((arg) => /^(\/etc|\.\.\/\.\.)$/.test(arg) && !isPattern(arg)),
          JSON.stringify(answer),
        );
      }),
      { seed: 11, numRuns: process.env['TRIBUTARY_LONG'] ? 20_000 : 1_000 },
    );
  });
});
