import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isOfRow } from '../../../src/editor/commands/openCommands';
import { manifestProblems } from '../support/manifest';

const root = process.env['TRIBUTARY_ROOT'] ?? '';
const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(root, name), 'utf8'));

describe('the manifest', () => {
  it('asks for no proposed API, uses stable menus only, and names only commands that it lists', async () => {
    const words = z.record(z.string(), z.string()).parse(await read('package.nls.json'));
    assert.deepEqual(manifestProblems(await read('package.json'), words), []);
  });

  it('has no command of a row in the title bar of a view, which names no row', async () => {
    const title = z.object({ 'view/title': z.array(z.object({ command: z.string() })) });
    const { contributes } = z
      .object({ contributes: z.object({ menus: title }) })
      .parse(await read('package.json'));
    const commands = contributes.menus['view/title'].map(({ command }) => command);
    assert.ok(commands.includes('tributary.task.new'));
    assert.deepEqual(commands.filter(isOfRow), []);
  });

  it('would be told of each of these', () => {
    const manifest = {
      enabledApiProposals: ['multiDocumentHighlightProvider'],
      contributes: {
        commands: [{ command: 'tributary.task.new' }],
        menus: {
          'multiDiffEditor/resource/title': [{ command: 'tributary.task.new' }],
          'view/title': [{ command: 'tributary.task.gone' }],
        },
        keybindings: [{ command: 'tributary.task.keyed' }, { command: 'tributary.tasks.focus' }],
        viewsWelcome: [{ contents: '%welcome%' }],
      },
    };
    assert.deepEqual(manifestProblems(manifest, { welcome: '[Go](command:tributary.task.linked)' }), [
      'proposed API: multiDocumentHighlightProvider',
      'no stable menu: multiDiffEditor/resource/title',
      'no such command: tributary.task.gone',
      'no such command: tributary.task.keyed',
      'no such command: tributary.task.linked',
    ]);
  });
});
