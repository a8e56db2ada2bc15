import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { type GuardAnswer, guardCommand } from '../../../../src/agent/tools/guard';
import { makeToolFixture, type ToolFixture } from '../../../fakes/toolContext';

const runs = process.env['TRIBUTARY_LONG'] === undefined ? 400 : 20_000;

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string): string => `"${text.replace(/[\\"$`]/g, '\\$&')}"`;

/** Ways to write a command so that a shell still runs just that. */
const layers: ReadonlyArray<(command: string) => string> = [
  (command) => `sh -c ${single(command)}`,
  (command) => `bash -ec ${double(command)}`,
  (command) => `env -u X Y=1 sh -c ${single(command)}`,
  (command) => `eval ${single(command)}`,
  (command) => `timeout 5 nice -n 3 bash -c ${single(command)}`,
  (command) => `command eval ${double(command)}`,
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `! ${command}`,
  (command) => `if true; then ${command}; fi`,
  (command) => `for x in 1 2; do ${command}; done`,
  (command) => `while true; do ${command}; break; done`,
  (command) => `case a in a) ${command};; esac`,
  (command) => `f() { ${command}; }; f`,
  (command) => `echo "$(${command})"`,
  (command) => `x=$(${command})`,
  (command) => `echo \${x:-$(${command})}`,
  (command) => `cat <(${command})`,
  (command) => `trap ${single(command)} EXIT`,
  (command) => `true && ${command}`,
  (command) => `false || ${command}`,
  (command) => `true | { ${command}; }`,
  (command) => `true\n${command}\ntrue`,
  (command) => `sh <<'END'\n${command}\nEND`,
  (command) => `cat <<'END' | bash\n${command}\nEND`,
  (command) => `bash <<< ${single(command)}`,
  (command) => `find . -maxdepth 0 -exec sh -c ${single(command)} \\;`,
  (command) => `echo x | xargs sh -c ${single(command)}`,
  (command) => `c=${single(command)}; eval "$c"`,
  (command) => `c=${single(command)}; sh -c "$c"`,
  (command) => `script -qc ${single(command)} /dev/null`,
  (command) => `xvfb-run sh -c ${single(command)}`,
];

/** The first word written otherwise, the rest as it is. */
const spellings: ReadonlyArray<(word: string) => string> = [
  (word) => word,
  (word) => single(word),
  (word) => double(word),
  (word) => `\\${word}`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}"${word.slice(1)}"`,
  (word) => `$'\\x${word.charCodeAt(0).toString(16)}${word.slice(1)}'`,
];

describe('the guard, however a command is written', () => {
  let fixture: ToolFixture;
  before(async () => {
    fixture = await makeToolFixture({}, { git: true });
    await mkdir(join(fixture.root, 'sub'), { recursive: true });
    await mkdir(join(fixture.root, 'planted'));
    await writeFile(join(fixture.root, 'planted', '.git'), `gitdir: ${fixture.main}/.git\n`);
    await mkdir(join(fixture.root, 'linked'));
    await symlink(join(fixture.main, '.git'), join(fixture.root, 'linked', '.git'));
  });
  after(() => fixture.dispose());

  const guard = (command: string): Promise<GuardAnswer> =>
    guardCommand(command, { ...fixture.context, env: { HOME: '/home/someone', PATH: '/usr/bin' } });
  const refused = async (command: string): Promise<void> =>
    assert.equal((await guard(command)).kind, 'refused', `allowed: ${command}`);
  const allowed = async (command: string): Promise<void> =>
    assert.deepEqual(await guard(command), { kind: 'allowed' }, command);

  const written = (commands: readonly string[]): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.constantFrom(...commands),
        fc.constantFrom(...spellings),
        fc.array(fc.constantFrom(...layers), { maxLength: 3 }),
      )
      .map(([command, spelling, around]) => {
        const [first = '', ...rest] = command.split(' ');
        const isAssignment = first.includes('=');
        const plain = [isAssignment ? first : spelling(first), ...rest].join(' ');
        return around.reduce((text, layer) => layer(text), plain);
      });

  it('refuses what reaches out in any nesting of quotes, shells, loops, functions and pipes', async () => {
    const bad = [
      'git stash',
      'git worktree prune',
      'git config user.name x',
      'git update-ref refs/heads/main HEAD',
      'git push origin main',
      'git branch -D main',
      `git -C ${single(fixture.main)} status`,
      `git --git-dir=${single(join(fixture.main, '.git'))} log`,
      `GIT_DIR=${single(join(fixture.main, '.git'))} git log`,
      `cd ${single(fixture.main)}`,
      'env git gc',
      '/usr/bin/git tag v1',
      `rm -rf ${single(join(fixture.main, 'src'))}`,
    ];
    await fc.assert(fc.asyncProperty(written(bad), refused), { numRuns: runs, seed: 7 });
  });

  it('lets ordinary work pass in the same nestings', async () => {
    const good = [
      'git status',
      'git diff HEAD',
      'cd sub',
      'npm test',
      'git add a.txt',
      'rm -rf sub/x',
      'ls -la',
    ];
    const plain = layers.filter((layer) => !/<<'END' \||^cat <\(/.test(layer('x')));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...good), fc.constantFrom(...plain), (command, layer) =>
        allowed(layer(command)),
      ),
      { numRuns: runs, seed: 7 },
    );
  });

  it('refuses git under other names, from words that are put together, and from what is printed', async () => {
    for (const command of [
      'ln -s /usr/bin/git g; ./g stash',
      'cp "$(which git)" g',
      'hash -p /usr/bin/git g; g stash',
      'set -- git stash; "$@"',
      'run() { echo "$@"; "$@"; }; run git stash',
      "read -r a b <<< 'git stash'; $a $b",
      `mapfile -t a <<< 'git stash'; "$${'{a[@]}'}"`,
      "mapfile -C 'git stash' -c 1 x < f",
      'source <(echo git stash)',
      'bash <(echo git stash)',
      "printf '%s stash' git | sh",
      "echo 'git stash' | xargs -I{} sh -c '{}'",
      "echo 'git stash' | at now",
      "git grep -O'git stash' x",
      "PAGER='git stash' git -p log",
      "GIT_PAGER='git stash' git log",
      "PROMPT_COMMAND='git stash' bash -i",
      "PS4='$(git stash)' bash -x run.sh",
      'git-receive-pack .',
      'git multi-pack-index expire',
      'git submodule update --init',
      'git submodule add ../x x',
      'cd "$PWD/../.."; git status',
      'rm -rf "$PWD/../../main"',
      `PWD=${single(fixture.main)}; cd "$PWD" && git status`,
      'tmux new -d "git stash"',
      'chroot . git stash',
    ])
      await refused(command);
  });

  it('refuses git where a .git file or link leads to another repository, and writing one', async () => {
    for (const command of [
      'cd planted && git status',
      'git -C planted status',
      'git -C linked log',
      `echo "gitdir: ${fixture.main}/.git" > .git`,
      `echo "gitdir: ${fixture.main}/.git" > sub/.git`,
      `ln -s '${fixture.main}/.git' sub/.git`,
      'rm .git',
      'mv planted/.git .git',
      'cd sub && rm ../.git',
    ])
      await refused(command);
    for (const command of ['git status', 'cd sub && git status', 'rm -rf sub/.git', 'git init sub/new'])
      await allowed(command);
  });

  it('lets ordinary words pass that look a little like it', async () => {
    for (const command of [
      'PAGER=cat git log',
      'ENV=production npm test',
      "PS4='+ ' bash -x run.sh",
      'set -euo pipefail; npm test',
      'source venv/bin/activate && python -m pytest',
      'cp git.txt other.txt; ln -s a b',
      'echo "$PWD" && cd "$PWD/sub" && git status',
      'read -r line < a.txt; echo "$line"',
      'run() { "$@"; }; run npm test',
      'cat <<END > notes.md\ngit stash\nEND',
      "printf '%s\\n' 'git push' >> notes.md",
      'git submodule status; git submodule update',
      'git grep -n stash',
    ])
      await allowed(command);
  });
});
