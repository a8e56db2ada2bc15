import { readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

/** One run-time import: a file, relative to the root with `/`, and what it imports. */
export interface RunTimeImport {
  readonly from: string;
  /** A file of ours, a package's name, or a builtin such as `node:fs`. */
  readonly to: string;
  readonly kind: 'file' | 'package' | 'builtin';
}

/** What one folder (ends with `/`) or file may import at run time. */
export interface LayerRule {
  readonly files: readonly string[];
  readonly packages: readonly string[];
  readonly node: boolean;
}

/** `package` may be imported by `only`, wherever the table allows it besides. */
export interface SoleImporter {
  readonly package: string;
  readonly only: string;
}

export interface LayerTable {
  readonly layers: Readonly<Record<string, LayerRule>>;
  readonly soleImporters: readonly SoleImporter[];
  /** Nothing reachable from these files may import `vscode`. */
  readonly withoutEditor: readonly string[];
}

/** Every sentence is a breach; none is good. */
export function checkLayers(imports: readonly RunTimeImport[], table: LayerTable): string[] {
  return [
    ...imports.flatMap((each) => breachOf(each, table)),
    ...imports.flatMap((each) => soleBreachOf(each, table)),
    ...table.withoutEditor.flatMap((entry) => editorBreaches(entry, imports)),
    ...cyclesOf(imports).map((cycle) => `import cycle: ${cycle.join(' -> ')}`),
  ];
}

function breachOf({ from, to, kind }: RunTimeImport, { layers }: LayerTable): string[] {
  const own = layerOf(from, layers);
  if (own === undefined) return [`${from} stands in no layer of the table`];
  const rule = layers[own];
  const isAllowed =
    kind === 'file'
      ? isInside(to, own) || rule?.files.some((layer) => isInside(to, layer))
      : kind === 'builtin'
        ? rule?.node
        : rule?.packages.includes(to);
  return isAllowed === true ? [] : [`${from} must not import ${to}: ${own} may not`];
}

function soleBreachOf({ from, to }: RunTimeImport, { soleImporters }: LayerTable): string[] {
  const rule = soleImporters.find((each) => each.package === to);
  return rule === undefined || rule.only === from
    ? []
    : [`${from} must not import ${to}: only ${rule.only} does`];
}

/** The most exact layer: a file's own line goes before its folder's. */
function layerOf(file: string, layers: LayerTable['layers']): string | undefined {
  return Object.keys(layers)
    .filter((layer) => isInside(file, layer))
    .sort((a, b) => b.length - a.length)[0];
}

function isInside(file: string, layer: string): boolean {
  return layer.endsWith('/') ? file.startsWith(layer) : file === layer;
}

function editorBreaches(entry: string, imports: readonly RunTimeImport[]): string[] {
  const reached = new Set([entry]);
  for (const file of reached)
    for (const { from, to, kind } of imports) if (from === file && kind === 'file') reached.add(to);
  return imports
    .filter(({ from, to }) => to === 'vscode' && reached.has(from))
    .map(({ from }) => `${entry} reaches vscode through ${from}`);
}

function cyclesOf(imports: readonly RunTimeImport[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to, kind } of imports)
    if (kind === 'file') next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push([...path.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    for (const to of next.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of [...next.keys()].sort()) visit(file, []);
  return cycles;
}

const entryName = 'all-sources.js';

/** Every run-time import of the sources under `folder`, as the bundler sees them: type imports are gone. */
export async function importsOf(root: string, folder: string): Promise<RunTimeImport[]> {
  const sources = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file));
  const { metafile } = await build({
    absWorkingDir: root,
    // One bundle of all: as many bundles as there are files would take seconds.
    stdin: {
      contents: sources.map((file) => `import ${JSON.stringify(`./${file}`)};`).join('\n'),
      resolveDir: root,
      sourcefile: entryName,
    },
    bundle: true,
    write: false,
    metafile: true,
    outfile: 'out/layers.js',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    loader: { '.md': 'text' },
    logLevel: 'silent',
  });
  return Object.entries(metafile.inputs)
    .filter(([from]) => from !== entryName)
    .flatMap(([from, { imports }]) =>
      imports.map(({ path, external }) => importOf(from, path, external === true)),
    );
}

function importOf(from: string, path: string, isExternal: boolean): RunTimeImport {
  if (!isExternal) return { from, to: path, kind: 'file' };
  if (isBuiltin(path)) return { from, to: path, kind: 'builtin' };
  // `@scope/name/sub` and `name/sub` are imports of the package.
  const parts = path.split('/');
  return { from, to: parts.slice(0, path.startsWith('@') ? 2 : 1).join('/'), kind: 'package' };
}
