import * as z from 'zod';

const desktop = z.object({ kind: z.literal('desktop'), program: z.string(), before: z.array(z.string()) });
const served = z.object({
  kind: z.literal('served'),
  folder: z.string(),
  node: z.string(),
  chromium: z.string().optional(),
});
const editorChoice = z.discriminatedUnion('kind', [desktop, served]);

/** An editor that `scripts/editor/findEditor.mjs` found. */
export type EditorChoice = z.infer<typeof editorChoice>;
export type ServedEditor = z.infer<typeof served>;
export type DesktopEditor = z.infer<typeof desktop>;

/** The editor this test run was told to use. */
export function chosenEditor(): EditorChoice {
  return editorChoice.parse(JSON.parse(given('TRIBUTARY_TEST_EDITOR')));
}

/** The folder that stands for the extension in this test run: manifest, `dist/`, `media/`. */
export function stagedExtension(): string {
  return given('TRIBUTARY_TEST_EXTENSION');
}

/** The packed extension of this test run. */
export function packedExtension(): string {
  return given('TRIBUTARY_TEST_VSIX');
}

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run this through \`npm test\``);
  return value;
}
