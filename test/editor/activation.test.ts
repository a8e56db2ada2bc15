import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { commandTable } from '../../src/editor/commands/commandTable';
import { settingsSchema } from '../../src/model/settings';
import { extensionParts } from './parts';

const manifestSchema = z.looseObject({
  contributes: z.looseObject({
    commands: z.array(
      z.looseObject({ command: z.string(), title: z.string(), enablement: z.string().optional() }),
    ),
    menus: z.record(z.string(), z.array(z.looseObject({ command: z.string(), when: z.string().optional() }))),
    keybindings: z.array(z.looseObject({ command: z.string(), key: z.string(), mac: z.string() })),
    configuration: z.looseObject({ properties: z.record(z.string(), z.looseObject({ scope: z.string() })) }),
    viewsWelcome: z.array(z.looseObject({ when: z.string(), contents: z.string() })),
  }),
});

const extension = vscode.extensions.getExtension('tributary.tributary');
assert.ok(extension);
const manifest = manifestSchema.parse(extension.packageJSON);
const { contributes } = manifest;

describe('the extension', () => {
  it('activates, and gives its parts to a test only', async () => {
    const parts = await extensionParts();
    assert.ok(parts.boards);
    assert.ok(extension.isActive);
  });

  it('registers exactly the commands that its manifest lists', async () => {
    await extensionParts();
    const listed = contributes.commands.map(({ command }) => command).sort();
    assert.deepEqual(commandTable.map(({ id }) => id).sort(), listed);
    // The editor itself adds some for each view.
    const isEditors =
      /^tributary\.(?:tasks\.\w+|review\.(?:focus|resetViewLocation|toggleVisibility|removeView))$/;
    const own = (await vscode.commands.getCommands(true)).filter(
      (id) => id.startsWith('tributary.') && !isEditors.test(id),
    );
    assert.deepEqual(own.sort(), listed);
  });

  it('switches no command of a row off by a state that follows later: the first click on a new row must count', () => {
    for (const { command, enablement } of contributes.commands)
      assert.doesNotMatch(enablement ?? '', /hasTasks|isAsking/, command);
  });

  it('has every text of its manifest in the table of texts, and none too many', async () => {
    const raw = await readFile(join(extension.extensionPath, 'package.json'), 'utf8');
    const used = [...raw.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key ?? '');
    const table = z
      .record(z.string(), z.string())
      .parse(JSON.parse(await readFile(join(extension.extensionPath, 'package.nls.json'), 'utf8')));
    assert.deepEqual([...new Set(used)].sort(), Object.keys(table).sort());
  });

  it('takes no keys that the editor uses itself', async () => {
    const uri = vscode.Uri.parse('vscode://defaultsettings/keybindings.json');
    const text = (await vscode.workspace.openTextDocument(uri)).getText();
    const bindings = [...text.matchAll(/"key":\s*"([^"]+)",\s*"command":\s*"([^"]+)"/g)];
    assert.ok(bindings.length > 300, 'the default keys were read');
    const taken = bindings.filter(([, , command]) => command?.startsWith('tributary.') === false);
    const keys = new Set(taken.map(([, key]) => key));
    for (const { key } of contributes.keybindings) assert.ok(!keys.has(key), key);
  });

  it('has a setting for each that is read, with the same default, and takes the base URL from the machine only', () => {
    const { properties } = contributes.configuration;
    const defaults = settingsSchema.parse({});
    const own = vscode.workspace.getConfiguration('tributary');
    assert.equal(properties['tributary.model.baseUrl']?.scope, 'machine');
    const inspected = (key: string): unknown => own.inspect(key)?.defaultValue;
    assert.equal(inspected('model.provider'), defaults.model.provider);
    assert.equal(inspected('model.maxOutputTokens'), defaults.model.maxOutputTokens);
    assert.equal(inspected('verify.when'), defaults.verify.when);
    assert.equal(inspected('verify.fixRounds'), defaults.verify.fixRounds);
    assert.equal(inspected('resume'), defaults.resume);
    assert.equal(inspected('maxConcurrentRuns'), defaults.maxConcurrentRuns);
  });

  it('keeps worktrees and its own records out of watching and searching', () => {
    const watched = vscode.workspace.getConfiguration('files').get<Record<string, boolean>>('watcherExclude');
    for (const pattern of ['.worktrees/**', '*/.worktrees/**', '.git/tributary/**', '*/.git/tributary/**'])
      assert.equal(watched?.[pattern], true, pattern);
    const searched = vscode.workspace.getConfiguration('search').get<Record<string, boolean>>('exclude');
    assert.equal(searched?.['**/.worktrees/**'], true);
  });

  it('offers a next step as a button in every state without Tasks', () => {
    const states = [
      'workspaceFolderCount == 0',
      'untrusted',
      'noRepository',
      'failed',
      '!tributary.hasModel',
      '&& tributary.hasModel',
    ];
    for (const state of states) {
      const welcome = contributes.viewsWelcome.filter(({ when }) => when.includes(state));
      assert.ok(welcome.length > 0, state);
      for (const { contents } of welcome) assert.match(contents, /\[[^\]]+\]\(command:[\w.]+\)/);
    }
  });
});
