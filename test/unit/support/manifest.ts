// What a manifest asks of the editor that VS Code would refuse, though other editors take it.
import * as z from 'zod';

/** The menus that extensions may use without asking for proposed API. */
const stableMenus = new Set([
  ...['commandPalette', 'editor/title', 'editor/context', 'editor/lineNumber/context'],
  ...['editor/title/context', 'explorer/context', 'view/title', 'view/item/context', 'scm/title'],
  ...['scm/sourceControl', 'scm/resourceGroup/context', 'scm/resourceFolder/context'],
  ...['scm/resourceState/context', 'scm/change/title', 'comments/commentThread/title'],
  ...['comments/commentThread/context', 'comments/comment/title', 'comments/comment/context'],
  'webview/context',
]);

const manifestSchema = z.looseObject({
  enabledApiProposals: z.array(z.string()).optional(),
  contributes: z.looseObject({
    commands: z.array(z.looseObject({ command: z.string() })),
    menus: z.record(z.string(), z.array(z.looseObject({ command: z.string() }))),
    keybindings: z.array(z.looseObject({ command: z.string() })).optional(),
    viewsWelcome: z.array(z.looseObject({ contents: z.string() })).optional(),
  }),
});

/** Everything wrong, in words; `words` are the texts that `%key%` stands for. */
export function manifestProblems(manifest: unknown, words: Readonly<Record<string, string>> = {}): string[] {
  const { enabledApiProposals = [], contributes } = manifestSchema.parse(manifest);
  const { commands, menus, keybindings = [], viewsWelcome = [] } = contributes;
  const listed = new Set(commands.map(({ command }) => command));
  const welcomes = viewsWelcome.map(({ contents }) => words[contents.replaceAll('%', '')] ?? contents);
  const linked = welcomes.flatMap((text) =>
    [...text.matchAll(/\(command:([\w.]+)/g)].map(([, id]) => id ?? ''),
  );
  const named = [...Object.values(menus).flat(), ...keybindings].map(({ command }) => command);
  return [
    ...enabledApiProposals.map((name) => `proposed API: ${name}`),
    ...Object.keys(menus)
      .filter((menu) => !stableMenus.has(menu))
      .map((menu) => `no stable menu: ${menu}`),
    // The editor adds one for a view by itself, to go to it.
    ...[...named, ...linked]
      .filter((id) => id.startsWith('tributary.') && !id.endsWith('.focus') && !listed.has(id))
      .map((id) => `no such command: ${id}`),
  ];
}
