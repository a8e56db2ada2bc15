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
  const text = process.env['TRIBUTARY_TEST_EDITOR'];
  if (text === undefined) throw new Error('no editor was chosen: run this through `npm test`');
  return editorChoice.parse(JSON.parse(text));
}

/** The folder that stands for the extension in this test run: manifest, `dist/`, `media/`. */
export function stagedExtension(): string {
  const folder = process.env['TRIBUTARY_TEST_EXTENSION'];
  if (folder === undefined) throw new Error('no extension was staged: run this through `npm test`');
  return folder;
}
