/** The four kinds of theme, by the names that `workbench.colorTheme` takes. */
export const themes = {
  light: 'Default Light Modern',
  dark: 'Default Dark Modern',
  'hc-black': 'Default High Contrast',
  'hc-light': 'Default High Contrast Light',
} as const;

export type ThemeKind = keyof typeof themes;

export function themeSettings(kind: ThemeKind): Readonly<Record<string, unknown>> {
  return { 'workbench.colorTheme': themes[kind], 'window.autoDetectColorScheme': false };
}
