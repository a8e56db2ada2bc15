import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkLayers, importsOf, type LayerRule, type LayerTable } from './support/layers';

const root = process.env['TRIBUTARY_ROOT'] ?? '';

/** The parts list: all but the editor and the command line. */
const composing: LayerRule = {
  files: [
    'src/base/',
    'src/model/',
    'src/process/',
    'src/git/',
    'src/agent/',
    'src/verify/',
    'src/store/',
    'src/tasks/',
    'src/demo/',
    'src/composeRepository.ts',
    'src/composeRuns.ts',
  ],
  packages: [],
  node: true,
};

/** ARCHITECTURE.md's table of layers: folder or file -> what it may import at run time. */
const table: LayerTable = {
  layers: {
    'src/base/': { files: [], packages: [], node: true },
    'src/model/': { files: ['src/base/'], packages: ['zod'], node: false },
    'src/process/': { files: ['src/base/'], packages: [], node: true },
    'src/git/': {
      files: ['src/base/', 'src/model/', 'src/process/'],
      packages: ['simple-git', 'picomatch', 'smol-toml'],
      node: true,
    },
    'src/agent/': {
      files: ['src/base/', 'src/model/', 'src/process/'],
      packages: ['@anthropic-ai/sdk', 'zod', 'picomatch', 'unbash', '@vscode/ripgrep'],
      node: true,
    },
    'src/verify/': { files: ['src/base/', 'src/model/', 'src/process/'], packages: [], node: true },
    'src/store/': { files: ['src/base/', 'src/model/'], packages: ['zod'], node: true },
    'src/tasks/': { files: ['src/base/', 'src/model/'], packages: [], node: false },
    'src/demo/': { files: ['src/base/', 'src/model/'], packages: [], node: true },
    'src/protocol/': { files: ['src/model/'], packages: ['zod'], node: false },
    'src/editor/': {
      files: ['src/base/', 'src/model/', 'src/protocol/', 'src/tasks/'],
      packages: ['vscode', 'zod', 'diff'],
      node: true,
    },
    'src/composeSample.ts': composing,
    'src/composeCore.ts': composing,
    'src/composeRepository.ts': composing,
    'src/composeRuns.ts': composing,
    'src/cli/': {
      files: [
        ...['src/base/', 'src/model/', 'src/tasks/'],
        ...['src/composeCore.ts', 'src/composeRepository.ts', 'package.json'],
      ],
      packages: [],
      node: true,
    },
    'src/compose.ts': { files: ['src/'], packages: ['vscode'], node: true },
    'src/extension.ts': { files: ['src/compose.ts'], packages: ['vscode'], node: false },
  },
  soleImporters: [
    { package: 'simple-git', only: 'src/git/gitClient.ts' },
    { package: 'smol-toml', only: 'src/git/tomlText.ts' },
    { package: '@anthropic-ai/sdk', only: 'src/agent/anthropicModel.ts' },
  ],
  withoutEditor: ['src/composeCore.ts', 'src/cli/main.ts'],
};

describe('the layers', () => {
  it('every run-time import of the sources keeps to the table', async () => {
    const imports = await importsOf(root, 'src');
    assert.ok(imports.length > 50, 'the sources were found');
    assert.deepEqual(checkLayers(imports, table), []);
  });
});

describe('the layer checker', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tributary-layers-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const breachesOf = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(directory, dirname(path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    return checkLayers(await importsOf(directory, 'src'), table);
  };

  it('finds nothing where imports point down', async () => {
    const breaches = await breachesOf({
      'src/base/a.ts': "import { join } from 'node:path';\nexport const a = join('x');",
      'src/model/b.ts':
        "import * as z from 'zod';\nimport { a } from '../base/a';\nexport const b = z.literal(a);",
      'src/tasks/c.ts': "import { b } from '../model/b';\nexport const c = b;",
    });
    assert.deepEqual(breaches, []);
  });

  it('reports an upward import', async () => {
    const breaches = await breachesOf({
      'src/base/a.ts': "import { b } from '../model/b';\nexport const a = b;",
      'src/model/b.ts': 'export const b = 1;',
    });
    assert.deepEqual(breaches, ['src/base/a.ts must not import src/model/b.ts: src/base/ may not']);
  });

  it('reports an upward import that is only made when called', async () => {
    const breaches = await breachesOf({
      'src/tasks/a.ts': "export const a = () => import('../git/b');",
      'src/git/b.ts': 'export const b = 1;',
    });
    assert.deepEqual(breaches, ['src/tasks/a.ts must not import src/git/b.ts: src/tasks/ may not']);
  });

  it('lets a type be imported from anywhere', async () => {
    const breaches = await breachesOf({
      'src/tasks/a.ts': "import type { B } from '../git/b';\nexport const a = (b: B): B => b;",
      'src/git/b.ts': 'export interface B { readonly b: 1 }',
    });
    assert.deepEqual(breaches, []);
  });

  it('reports a builtin and a package where the table allows none', async () => {
    const breaches = await breachesOf({
      'src/tasks/a.ts': "import 'node:fs';\nimport 'execa/sub';\nimport 'picomatch';",
    });
    assert.deepEqual(breaches, [
      'src/tasks/a.ts must not import node:fs: src/tasks/ may not',
      'src/tasks/a.ts must not import execa: src/tasks/ may not',
      'src/tasks/a.ts must not import picomatch: src/tasks/ may not',
    ]);
  });

  it('reports a second importer of simple-git and of the SDK', async () => {
    const breaches = await breachesOf({
      'src/git/gitClient.ts': "import 'simple-git';",
      'src/git/other.ts': "import 'simple-git';",
      'src/agent/other.ts': "import '@anthropic-ai/sdk/client';",
    });
    assert.deepEqual(breaches, [
      'src/agent/other.ts must not import @anthropic-ai/sdk: only src/agent/anthropicModel.ts does',
      'src/git/other.ts must not import simple-git: only src/git/gitClient.ts does',
    ]);
  });

  it('reports vscode wherever the core or the command line reaches it', async () => {
    const breaches = await breachesOf({
      'src/cli/main.ts': "import '../tasks/a';",
      'src/tasks/a.ts': "import 'vscode';",
    });
    assert.deepEqual(breaches, [
      'src/tasks/a.ts must not import vscode: src/tasks/ may not',
      'src/cli/main.ts reaches vscode through src/tasks/a.ts',
    ]);
  });

  it('reports a cycle within a layer', async () => {
    const breaches = await breachesOf({
      'src/base/a.ts': "import { b } from './b';\nexport const a = (): unknown => b;",
      'src/base/b.ts': "import { a } from './a';\nexport const b = (): unknown => a;",
    });
    assert.deepEqual(breaches, ['import cycle: src/base/a.ts -> src/base/b.ts -> src/base/a.ts']);
  });

  it('reports a file that stands in no layer', async () => {
    const breaches = await breachesOf({ 'src/somewhere/a.ts': "import 'node:fs';" });
    assert.deepEqual(breaches, ['src/somewhere/a.ts stands in no layer of the table']);
  });
});
