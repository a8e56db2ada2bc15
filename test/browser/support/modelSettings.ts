/** User settings by which the extension asks a loopback server in place of a model. */
export function modelSettings(url: string): Readonly<Record<string, unknown>> {
  return {
    'tributary.model.baseUrl': url,
    'tributary.model.main': 'a-model',
    'tributary.verify.when': 'never',
  };
}
