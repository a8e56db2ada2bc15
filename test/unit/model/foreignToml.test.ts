import assert from 'node:assert/strict';
import { parseToml } from '../../../src/git/tomlText';
import { filledTemplate } from '../../../src/model/foreignTemplate';
import { foreignTomlFiles } from '../../../src/model/foreignToml';

const read = async (path: string, ...texts: readonly string[]): Promise<unknown> => {
  const files = foreignTomlFiles.find(({ paths }) => paths[0] === path) ?? assert.fail(path);
  const parsed = await Promise.all(texts.map((text) => parseToml(text)));
  return files.read(parsed.map((one) => (one.kind === 'parsed' ? one.value : assert.fail(one.why))));
};
/** A variable of the shell. */
const shell = (name: string): string => `$${'{'}${name}}`;
const found = (commands: string[], teardown: string[] = [], notes: string[] = []): unknown => ({
  plan: { commands, teardown, include: [] },
  notes,
});

describe('set-up commands in TOML files of other tools', () => {
  it('are the scripts of a Codex environment', async () => {
    const text =
      'version = 1\nname = "x"\n[setup]\nscript = """\nnpm ci\nnpm run build\n"""\n[cleanup]\nscript = "make clean"\n[[actions]]\nname = "Run"\ncommand = "npm start"\n';
    const expected = found(['npm ci\nnpm run build'], ['make clean']);
    assert.deepEqual(await read('.codex/environments/environment.toml', text), expected);
    assert.deepEqual(await read('.codex/local-environment.toml', text), expected);
  });

  it('are those of Conductor, where the local file goes before the shared one, key by key', async () => {
    const shared = '[scripts]\nsetup = "pnpm i"\narchive = "./clean.sh"\n';
    const path = '.conductor/settings.toml';
    assert.deepEqual(await read(path, shared), found(['pnpm i'], ['./clean.sh']));
    const local = '[scripts]\nsetup = "pnpm i --offline"\n';
    assert.deepEqual(await read(path, shared, local), found(['pnpm i --offline'], ['./clean.sh']));
  });

  it('are the hooks of worktrunk by their older and newer names, in all their forms', async () => {
    const path = '.config/wt.toml';
    assert.deepEqual(await read(path, 'post-create-command = "npm ci"\n'), found(['npm ci']));
    assert.deepEqual(
      await read(
        path,
        '[pre-start]\ninstall = "npm ci"\nbuild = "npm run build"\n[pre-remove]\nend = "make clean"\n',
      ),
      found(['npm ci', 'npm run build'], ['make clean']),
    );
    assert.deepEqual(
      await read(path, '[[pre-start]]\ninstall = "npm ci"\n[[pre-start]]\nbuild = "make"\n'),
      found(['npm ci', 'make']),
    );
    const background =
      'commands of post-start, which run in the background there, run one after another here';
    assert.deepEqual(await read(path, 'post-start = "npm ci"\n'), found(['npm ci'], [], [background]));
  });

  it('leave a hook out whose template we cannot fill, and say which', async () => {
    const text = '[pre-start]\none = "cp {{ repo_root }}/.env .env"\ntwo = "sync {{ target }}"\n';
    assert.deepEqual(
      await read('.config/wt.toml', text),
      found(
        [`cp "${shell('TRIBUTARY_ROOT_PATH')}"/.env .env`],
        [],
        ['pre-start is left out: {{ target }} is not known here in sync {{ target }}'],
      ),
    );
  });

  it('are none in what has another form', async () => {
    assert.equal(await read('.codex/local-environment.toml', 'setup = 3\n'), undefined);
    assert.equal(await read('.conductor/settings.toml', '[scripts]\nsetup = 3\n'), undefined);
    assert.deepEqual(
      await read('.config/wt.toml', 'pre-start = 3\n'),
      found([], [], ['pre-start is left out: it is neither a command nor a table of commands']),
    );
  });

  it('of a broken file are a problem with its line', async () => {
    assert.deepEqual(await parseToml('a = 1\nb = \n'), {
      kind: 'broken',
      line: 2,
      why: 'invalid value',
    });
  });
});

describe('a template in a command', () => {
  const cases: readonly (readonly [command: string, filled: string | undefined])[] = [
    ['npm ci', 'npm ci'],
    ['echo {{ branch }}', `echo "${shell('TRIBUTARY_BRANCH')}"`],
    ['echo "on {{branch}}, it\'s"', `echo "on ${shell('TRIBUTARY_BRANCH')}, it's"`],
    [
      'ls {{ worktree }}/{{ repo }}',
      `ls "${shell('TRIBUTARY_WORKTREE_PATH')}"/"${shell('TRIBUTARY_ROOT_PATH##*/')}"`,
    ],
    ["echo '{{ branch }}'", undefined],
    ['echo {{ branch | sanitize }}', undefined],
    ['{% if branch %}x{% endif %}', undefined],
    ['echo {{ constructor }}', undefined],
  ];
  for (const [command, filled] of cases)
    it(`${filled === undefined ? 'is refused' : 'is filled'} in: ${command}`, () => {
      const result = filledTemplate(command);
      assert.equal(result.kind === 'filled' ? result.command : undefined, filled);
    });
});
