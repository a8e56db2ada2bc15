import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { manifestProblems } from '../support/manifest';

const root = process.env['TRIBUTARY_ROOT'] ?? '';
const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(root, name), 'utf8'));

describe('the manifest', () => {
  it('asks for no proposed API, uses stable menus only, and names only commands that it lists', async () => {
    const words = z.record(z.string(), z.string()).parse(await read('package.nls.json'));
    assert.deepEqual(manifestProblems(await read('package.json'), words), []);
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
