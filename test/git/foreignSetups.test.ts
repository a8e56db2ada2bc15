import assert from 'node:assert/strict';
import type { ForeignSetup } from '../../src/model/foreignSetup';
import { openLayer } from './support/layer';
import { cleanUp, makeRepo } from './support/tempRepo';

async function found(files: Readonly<Record<string, string>>): Promise<readonly ForeignSetup[]> {
  const { root } = await makeRepo({ files });
  return (await openLayer(root)).foreignSetups();
}

const empty = { commands: [], teardown: [], include: [] };

describe('files of other tools in a checkout', () => {
  afterEach(cleanUp);

  it('that are broken TOML are told of with file and line, and the others are read all the same', async () => {
    const setups = await found({
      '.config/wt.toml': 'pre-start = "npm ci"\npost-start = [\n',
      '.conductor/settings.toml': '[scripts]\nsetup = "pnpm i"\n',
      '.conductor/settings.local.toml': '[scripts\n',
      'conductor.json': '{"scripts":{"setup":"npm i"}}',
    });
    assert.deepEqual(
      setups.map(({ path, plan }) => [path, plan.commands]),
      [
        ['.conductor/settings.toml', []],
        ['.config/wt.toml', []],
        ['conductor.json', ['npm i']],
      ],
    );
    assert.match(setups[0]?.notes.join() ?? '', /^\.conductor\/settings\.local\.toml:1: /);
    assert.match(setups[1]?.notes.join() ?? '', /^\.config\/wt\.toml:\d: /);
  });

  it('of Conductor count in TOML before its older JSON', async () => {
    const [first] = await found({
      '.conductor/settings.toml': '[scripts]\nsetup = "pnpm i"\n',
      'conductor.json': '{"scripts":{"setup":"npm i"}}',
    });
    const plan = { ...empty, commands: ['pnpm i'] };
    assert.deepEqual(first, { path: '.conductor/settings.toml', plan, notes: [] });
  });

  it('that name nothing are left out', async () => {
    assert.deepEqual(await found({ '.codex/environments/environment.toml': 'version = 1\n' }), []);
  });
});
