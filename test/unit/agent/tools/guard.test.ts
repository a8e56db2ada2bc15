import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { guardCommand } from '../../../../src/agent/tools/guard';
import { makeToolFixture, type ToolFixture } from '../../../fakes/toolContext';

describe('the guard of commands', () => {
  let fixture: ToolFixture;
  before(async () => {
    fixture = await makeToolFixture();
    await mkdir(join(fixture.root, 'sub', 'deep'), { recursive: true });
    await mkdir(join(fixture.main, 'src'), { recursive: true });
    await symlink(fixture.main, join(fixture.root, 'link'));
    // Two files that are called as branches are, one kept loose and one packed.
    await writeFile(join(fixture.root, 'both'), '');
    await writeFile(join(fixture.root, 'packed'), '');
    await mkdir(join(fixture.context.commonDir, 'refs', 'heads'), { recursive: true });
    await writeFile(join(fixture.context.commonDir, 'refs', 'heads', 'both'), `${'a'.repeat(40)}\n`);
    await writeFile(join(fixture.context.commonDir, 'packed-refs'), `${'a'.repeat(40)} refs/heads/packed\n`);
  });
  after(() => fixture.dispose());

  const guard = (command: string, env: Record<string, string> = {}) =>
    guardCommand(command.replaceAll('MAIN', `'${fixture.main}'`).replaceAll('ROOT', `'${fixture.root}'`), {
      ...fixture.context,
      env: { HOME: '/home/someone', ...env },
    });
  const refused = async (command: string, about?: RegExp): Promise<void> => {
    const answer = await guard(command);
    assert.equal(answer.kind, 'refused', `allowed: ${command}`);
    if (answer.kind === 'refused' && about) assert.match(answer.message, about, command);
  };
  const allowed = async (command: string): Promise<void> => {
    assert.deepEqual(await guard(command), { kind: 'allowed' }, command);
  };

  it('lets ordinary work pass', async () => {
    for (const command of [
      'npm test',
      'git status && git add -A && git commit -m "stash the push of main"',
      'git diff HEAD~1 -- src | head -20',
      'cd sub && git log --oneline -3',
      'cd sub/deep && cd .. && git status',
      'cd "$(git rev-parse --show-toplevel)" && git status',
      'git -C sub status',
      'git -C ROOT/sub status',
      'git --git-dir=.git --work-tree=. status',
      'git checkout -b mine && git switch -c other && git branch third',
      'git branch -a -vv --sort=-committerdate --contains HEAD',
      'git rebase main && git merge --no-edit main && git cherry-pick abc && git reset --hard HEAD~1',
      'git rm -r --cached sub; git mv a b; git restore .; git clean -fdx',
      'for f in *.ts; do echo "$f"; done',
      'echo "git stash" > notes.md',
      'grep -rn "git push" .',
      'node -e "console.log(1)" > /tmp/out.txt',
      'GIT_AUTHOR_NAME=x GIT_COMMITTER_DATE=now git commit -m y',
      'git -c user.name=x -c user.email=y commit -m z',
      'command -v git; which git',
      'find . -name git -exec cat {} \\;',
      'while read -r line; do echo "$line"; done < file.txt',
      'X=1 make && $CC -c main.c',
      'git clone ./sub sub/copy',
      'ls / && cat /etc/hostname',
    ]) {
      await allowed(command);
    }
  });

  it('refuses git that is told to work outside the Worktree', async () => {
    for (const command of [
      'git -C MAIN status',
      'git -C ../../main status',
      'git -C sub -C ../../../main status',
      'git --git-dir=MAIN/.git log',
      'git --git-dir MAIN/.git log',
      'git --work-tree=/ status',
      'git -C link status',
      'GIT_DIR=MAIN/.git git status',
      'export GIT_WORK_TREE=MAIN; git checkout -- .',
      'env GIT_DIR=MAIN/.git git status',
      'env GIT_DIR="$D" git status',
      'GIT_DIR=$D git status',
      'read -r GIT_DIR; export GIT_DIR; git status',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
      ': "${GIT_DIR:=/x}"; export GIT_DIR; git status',
      'declare -x GIT_DIR=/elsewhere',
      'git -C ~ status',
      'git -C "$HOME" status',
      'git init /tmp/x',
      'git clone . /tmp/x',
      'git -c core.worktree=MAIN status',
    ]) {
      await refused(command);
    }
  });

  it('refuses cd that resolves outside, whatever follows', async () => {
    await refused('cd MAIN && git status', /outside the Worktree.*stay inside|user's checkout/s);
    for (const command of [
      'cd ..; git status',
      'cd ../../main',
      'cd link && ls',
      'pushd MAIN',
      'cd',
      'cd ~',
      'cd / && ls',
      '(cd /; git status)',
      'builtin cd /',
      'command cd MAIN',
      'true && { cd /tmp; ls; }',
      'if true; then cd /; fi',
      'echo $(cd /; ls)',
      'env -C / git status',
    ]) {
      await refused(command);
    }
  });

  it('follows cd into subshells, loops and functions no further than they go', async () => {
    await allowed('(cd sub); git status');
    await allowed('for d in a b; do (cd sub && git log); done; git status');
    await refused('cd sub; for i in 1 2; do cd ..; git status; done', /cannot be traced/);
    await refused('go() { cd sub; }; go; git -C .. status', /cannot be traced/);
    await allowed('go() { cd sub; }; git -C . status');
    await refused('cd "$UNKNOWN" && git checkout -- .', /cannot be traced/);
    await refused('cd sub; popd; git status', /cannot be traced/);
    await allowed('cd "$UNKNOWN" && ls');
  });

  it('refuses every git command that reaches what worktrees share', async () => {
    for (const command of [
      'stash',
      'stash list',
      'worktree add ../x',
      'config user.name x',
      'config --global alias.x y',
      'config --unse user.name',
      'config -e',
      'gc',
      'prune',
      'update-ref refs/heads/main HEAD',
      'symbolic-ref HEAD refs/heads/main',
      'reflog expire --all',
      'replace a b',
      'notes add -m x',
      'tag v1',
      'tag -d v1',
      'tag --del v1',
      'fetch',
      'pull',
      'remote add x y',
      'remote -v update',
      'push',
      'push origin HEAD:main',
      'branch -d x',
      'branch -D x',
      'branch --delete x',
      'branch --del x',
      'branch -m a b',
      'branch -M a b',
      'branch -f main HEAD',
      'branch -qf main HEAD',
      'branch --set-upstream-to=origin/main',
      'checkout -B main',
      'checkout -qB main',
      'switch -C main',
      'switch --force-create main',
      'sparse-checkout set x',
      'maintenance run',
      'repack -ad',
      'filter-branch',
      'credential fill',
      'apply --unsafe-paths x',
      'submodule foreach "git stash"',
      'init',
      'st',
    ]) {
      await refused(`git ${command}`, /Refused: /);
    }
  });

  it('keeps the Worktree on its own branch, and other branches and the stash where they are', async () => {
    for (const command of [
      'checkout -q feature && git reset --hard HEAD~1',
      'checkout main',
      'checkout main --',
      'checkout -',
      'checkout @{-1}',
      'checkout "$B"',
      'checkout *.ts',
      'checkout --ignore-other-worktrees main',
      'checkout --ignore-oth main',
      'checkout --detach --no-detach main',
      'checkout --conflict merge feature',
      'checkout -t origin/x',
      'checkout both',
      'checkout packed',
      'switch feature',
      'switch -',
      'switch --discard-changes feature',
      'switch --ignore-other-worktrees main',
      'switch -d --no-det main',
      'switch --guess feature',
      'rebase main feature',
      'rebase --onto main HEAD~2 feature',
      'rebase --root feature',
      'rebase -X ours main feature',
      'rebase --update-refs main',
      'rebase --update main',
      'rebase --autostash x',
      'rebase --autost x',
      'merge --autostash x',
      'merge --au x',
      'pull --autostash',
      '-c rebase.autoStash=true rebase main',
      '-c rebase.updateRefs=true rebase main',
      '-c REBASE.UPDATEREFS rebase main',
      '-c merge.autoStash=true merge main',
      'bisect reset main',
      'bisect start',
      'symbolic-ref HEAD refs/heads/main',
      'worktree list',
      'submodule foreach git switch main',
    ]) {
      await refused(`git ${command}`, /^Refused: /);
    }
    await refused('git checkout main', /git switch --detach <commit>.*git checkout <commit> -- <path>/);
    await refused('echo main | xargs git checkout');
    await refused('echo main | xargs git rebase main');
    await refused('GIT_SEQUENCE_EDITOR="sed -i 1iupdate-ref" git rebase -i HEAD~2', /branches of others/);
  });

  it('lets the agent look at commits, take files from them and make branches of its own', async () => {
    for (const command of [
      'checkout -- sub',
      'checkout main -- sub gone.txt',
      'checkout HEAD~1 sub/x.ts',
      'checkout sub',
      'checkout .',
      'checkout ./both',
      '-C sub checkout deep',
      'checkout HEAD',
      'checkout HEAD~2',
      'checkout --detach main',
      'checkout -qb mine main',
      'checkout -p',
      'switch --detach main',
      'switch -d HEAD~3',
      'switch -c mine main',
      'switch --create mine',
      'rebase main',
      'rebase --onto main HEAD~2',
      'rebase -i --exec "npm test" main',
      'rebase --continue',
      'rebase --autosquash --no-autostash main',
      'merge --abort',
      'revert --no-edit HEAD',
      'restore --source=main sub',
      'commit --amend --author="A <a@b>" --no-edit',
      'log main..HEAD',
      'diff main',
      'show main:file',
    ]) {
      await allowed(`git ${command}`);
    }
    await allowed('git diff --name-only | xargs git checkout --');
  });

  it('lets an agent back to the branch that its Worktree began on, and to no other', async () => {
    const real = await makeToolFixture({}, { git: true });
    const kindOf = async (command: string): Promise<string> =>
      (await guardCommand(command, { ...real.context, env: {} })).kind;
    try {
      const own = (await real.git('branch', '--show-current')).trim();
      await real.git('branch', 'feature');
      const around = `git switch --detach HEAD && git switch ${own}`;
      assert.equal(await kindOf(around), 'allowed');
      await real.git('switch', '-q', '-c', 'mine');
      await real.git('switch', '-q', '--detach', 'feature');
      assert.equal(await kindOf(around), 'allowed');
      assert.equal(await kindOf(`git checkout -q ${own}`), 'allowed');
      for (const other of ['feature', 'main', `-m ${own} feature`]) {
        assert.equal(await kindOf(`git switch ${other}`), 'refused', other);
        assert.equal(await kindOf(`git checkout ${other} --`), 'refused', other);
      }
    } finally {
      await real.dispose();
    }
  });

  it('allows the reading forms of config, tag, remote and branch', async () => {
    for (const command of [
      'git config --get user.name',
      'git config user.name',
      'git config -l --show-origin',
      'git tag',
      'git tag -l "v*" --sort=-v:refname',
      'git tag --contains HEAD',
      'git remote -v',
      'git remote get-url origin',
      'git branch --show-current',
      'git sparse-checkout list',
    ]) {
      await allowed(command);
    }
  });

  it('finds git however it is dressed', async () => {
    for (const command of [
      '/usr/bin/git stash',
      'GIT stash',
      'git.exe stash',
      '\\git stash',
      'g"i"t stash',
      "g'it' st'a'sh",
      "$'gi\\x74' stash",
      'git-stash',
      '/usr/lib/git-core/git-stash push',
      'env git stash',
      'env -i PATH=/bin git stash',
      'env -S "git stash"',
      'command git stash',
      'exec git stash',
      'nohup git stash &',
      'timeout 5 git stash',
      'nice -n 5 git stash',
      'time git stash',
      '! git stash',
      'sudo -n git stash',
      'xargs git stash < x',
      'echo stash | xargs git',
      'find . -execdir git stash \\;',
      'sh -c "git stash"',
      "bash -lc 'cd sub && git stash'",
      'bash -o errexit -c "git stash"',
      'bash -c "bash -c \'git stash\'"',
      'eval "git stash"',
      'eval git stash',
      '(git stash)',
      '((git stash) )',
      '((git stash); ls)',
      '{ git stash; }',
      'true && git stash',
      'true || git stash',
      'ls | git stash',
      'ls & git stash',
      'ls\ngit stash',
      'git \\\n stash',
      'echo $(git stash)',
      'echo "`git stash`"',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
      'echo "${X:-$(git stash)}"',
      'echo $((1 + $(git stash)))',
      'cat <(git stash)',
      'cat <<EOF\n$(git stash)\nEOF',
      'bash <<EOF\ngit stash\nEOF',
      'bash <<< "git stash"',
      'echo "git stash" | sh',
      'printf "git stash" | bash -s',
      'f() { git stash; }',
      'if git stash; then :; fi',
      'case x in x) git stash;; esac',
      'while git stash; do :; done',
      '[[ -n $(git stash) ]]',
      'coproc git stash',
      "trap 'git stash' EXIT",
      'git rebase --exec "git push" main',
      'git bisect run sh -c "git stash"',
      'git bisect run git stash',
      'git -c alias.x=stash x',
      'git -c "alias.x=!git push" x',
      'git --no-pager stash',
      'git -c color.ui=false stash',
      'GIT_EDITOR="git push" git commit',
      'GIT_CONFIG_COUNT=1 git status',
      'git --exec-path=/tmp/x status',
      'script -c "git stash"',
      'alias g=git',
      'git() { :; }',
      'X=git; $X stash',
      'X="git stash"; $X',
      'X=gi Y=t; X=gi; Y=t; $X$Y stash',
    ]) {
      await refused(command);
    }
  });

  it('refuses what may be git and cannot be traced, and only that', async () => {
    for (const command of [
      '$X stash',
      '$X git stash',
      '"$X" --git-dir=/x status',
      '$(which git) status',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
      'a=(git stash); "${a[@]}"',
      '{git,stash}',
      'git $X',
      'git "$@"',
      'git -C "$DIR" status',
      'for x in git; do $x stash; done',
      'g=$(command -v git); $g status',
      "xargs sh -c 'git $0'",
    ]) {
      await refused(command, /cannot be traced|Refused/);
    }
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
    await allowed('$X install && "$NODE" --test && ${TOOL:-make} all');
  });

  it('refuses a command that it cannot read, and says why', async () => {
    await refused('echo "unclosed', /cannot be read \(unterminated double quote at character 6\)/);
    await refused('if true; then', /cannot be read/);
    await refused('echo $(if)', /cannot be read/);
    await refused('a\0b', /NUL/);
    await refused(`${'('.repeat(200)}true${')'.repeat(200)}`);
    await refused('x'.repeat(100_001), /too long/);
  });

  it("refuses words that name the user's checkout or git's own folder", async () => {
    await refused('cat MAIN/src/x.ts', /user's checkout.*use src\/x\.ts instead/);
    await refused('rm -rf ../../main/src', /use src instead/);
    await refused('echo x > MAIN/src/x.ts', /user's checkout/);
    await refused('tool --out=MAIN/src', /user's checkout/);
    await refused('cat MAIN/.git/config', /belongs to git/);
    await allowed('ls ROOT/sub ../one/sub');
  });

  it('refuses what is well known to remove or overwrite when a path in it leaves the Worktree', async () => {
    for (const command of [
      'find .. -name x -delete',
      'find -L .. -name x -delete',
      'find .. -name x -exec rm {} +',
      "find / -name x -execdir sh -c 'x' \\;",
      'find .. -name x | xargs rm -f',
      'find .. -print0 | xargs -0 -n1 sudo rm',
      'rm -rf ..',
      'rm -rf ../*',
      'rm -rf -- ../two',
      'rm -rf /',
      'rm -rf ~',
      'rm -rf ~/x',
      'rm -rf "$HOME"',
      'rm -rf /tmp',
      'rm -rf ROOT/../two',
      'rmdir ../two',
      'cd sub && rm -rf ../../two',
      'mv a ../b',
      'mv ../b a',
      'mv -t ../b a',
      'cp a ../b',
      'cp b.txt $OLDPWD',
      'cp b.txt "$OLDPWD/x"',
      'cp b.txt ~-',
      'cp --target-directory=../x a',
      'cp -t.. a',
      'ln -sf a ../b',
      'echo x | tee ../b',
      'echo x > ../b',
      'echo x >> ~/.bashrc',
      'chmod -R 777 ..',
      "sed -i 's/a/b/' ../x",
      "perl -pi -e 's/a/b/' ../x",
      'dd if=a of=../b',
      'env rm -rf ..',
      'timeout 5 rm -rf ../x',
      "bash -c 'rm -rf ..'",
      'xargs -I{} cp {} ../x',
      'git archive -o ../x HEAD',
      'git archive -o../x HEAD',
      'git archive --output=../x HEAD',
      'git format-patch -o ../x HEAD~1',
      'git diff --output=../x',
      'git bundle create ../x HEAD',
      'git init --separate-git-dir=../q sub/q',
      'git init --separate-git-dir ../q sub/q',
    ]) {
      await refused(command);
    }
    await refused('rm -rf ../two', /rm \.\.\/two reaches outside the Worktree/);
  });

  it('lets ordinary work remove and write in the Worktree and below /tmp', async () => {
    for (const command of [
      'cd sub && npm test',
      'rm -rf build node_modules/.cache link/x',
      'rm -rf "$BUILD" dist/*',
      'cp a b && mv b c && cp ../one/a .',
      'cp ../other/a b',
      'cp /etc/hosts hosts.txt',
      'cd sub && cp a .. && rm ../a && cd -',
      'rm -f ROOT/sub/x',
      'cat ../other/README.md',
      'echo x > /dev/null 2>&1; echo y >&2',
      'mkdir -p /tmp/mine && cp a /tmp/mine/ && rm -rf /tmp/mine && echo x > /tmp/mine.txt',
      "sed -i '/a/d' x.ts && sed 's/../x/' y.ts",
      "sed -n '1p' ../other/x",
      'find / -name passwd -exec cat {} \\;',
      'find . -name "*.o" -delete && find sub -type f | xargs rm',
      'find .. -name x | xargs grep y',
      'npm install ../pkg && time npm install ../pkg',
      'chmod +x run.sh',
      'git format-patch -o patches HEAD~1',
      'git diff --output=x.diff',
      'git ls-files -o',
    ]) {
      await allowed(command);
    }
  });

  it('shows where git keeps itself, and hands it to no other command', async () => {
    await allowed('git rev-parse --git-dir');
    await allowed('git rev-parse --git-dir > /dev/null 2>&1 && git status');
    await allowed('git rev-parse HEAD | cat; x=$(git rev-parse HEAD)');
    for (const command of [
      'git rev-parse --git-common-dir | xargs -I{} rm -rf {}',
      '(git rev-parse --git-dir) | cat',
      'rm -rf "$(git rev-parse --git-common-dir)"',
      'd=$(git rev-parse --absolute-git-dir); rm -rf "$d"',
      'cat `git rev-parse --git-path HEAD`',
      'cat <(git rev-parse --git-path=HEAD)',
      'git rev-parse --git-dir | while read -r d; do rm -rf "$d"; done',
      "bash -c 'git rev-parse --git-dir' | xargs rm",
    ]) {
      await refused(command, /belongs to git itself|rev-parse/);
    }
  });

  it('lets the verifier use its scratch folder', async () => {
    const scratch = join(fixture.folder, 'scratch');
    await mkdir(scratch, { recursive: true });
    const env = { TRIBUTARY_SCRATCH: scratch };
    assert.equal((await guard('cd "$TRIBUTARY_SCRATCH" && git init x', env)).kind, 'allowed');
    assert.equal((await guard('cd "$TRIBUTARY_SCRATCH"/.. && ls', env)).kind, 'refused');
    const write =
      'cp a "$TRIBUTARY_SCRATCH" && rm -rf "$TRIBUTARY_SCRATCH/a" && ls > $TRIBUTARY_SCRATCH/list';
    assert.equal((await guard(write, env)).kind, 'allowed');
    assert.equal((await guard('cd "$TRIBUTARY_SCRATCH" && rm -rf ../x', env)).kind, 'refused');
    const inGit = { TRIBUTARY_SCRATCH: join(fixture.context.commonDir, 'scratch') };
    assert.equal((await guard('cd "$TRIBUTARY_SCRATCH" && git status', inGit)).kind, 'refused');
  });

  it('says what was refused, why, and what to do instead', async () => {
    await refused(
      'git stash',
      /^Refused: git stash is not for agents: .*shared.*Commit on this branch instead\.$/,
    );
    await refused('git -C MAIN log', /outside the Worktree|user's checkout/);
  });

  it('refuses a forbidden command wherever it stands in a longer one', async () => {
    const wraps: ((inner: string) => string)[] = [
      (inner) => `( ${inner} )`,
      (inner) => `{ ${inner}; }`,
      (inner) => `true && ${inner}`,
      (inner) => `${inner} | cat`,
      (inner) => `echo $( ${inner} )`,
      (inner) => `echo "$( ${inner} )"`,
      (inner) => `if true; then ${inner}; fi`,
      (inner) => `for i in 1; do ${inner}; done`,
      (inner) => `f() { ${inner}; }`,
      (inner) => `cat <( ${inner} )`,
      (inner) => `! ${inner}`,
      (inner) => `${inner} > out.txt 2>&1`,
      (inner) => `echo one\n${inner}\necho two`,
      (inner) => `bash -c '${inner.replaceAll("'", `'\\''`)}'`,
    ];
    const cores = [
      'git stash',
      'git push origin x',
      'git -C / status',
      'cd /',
      '/bin/git gc',
      'env git tag v1',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...cores),
        fc.array(fc.constantFrom(...wraps), { maxLength: 4 }),
        async (core, around) => {
          const command = around.reduce((inner, wrap) => wrap(inner), core);
          assert.equal((await guard(command)).kind, 'refused', command);
        },
      ),
      { seed: 7, numRuns: process.env['TRIBUTARY_LONG'] ? 5_000 : 200 },
    );
  });

  it('answers for any text at all and never throws', async () => {
    const piece = fc.constantFrom(
      'git',
      'cd',
      ' ',
      '$',
      '(',
      ')',
      '"',
      "'",
      '`',
      '|',
      '&',
      ';',
      '\n',
      '<',
      '{',
      '}',
      'a',
      '\\',
      '..',
      '/',
      '-C',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const answer = await guard(pieces.join(''));
        assert.ok(answer.kind === 'allowed' || answer.message.startsWith('Refused: '));
      }),
      { seed: 7, numRuns: process.env['TRIBUTARY_LONG'] ? 20_000 : 500 },
    );
  });
});
