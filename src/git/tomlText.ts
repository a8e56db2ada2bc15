/** A TOML text as plain values, or where and why it is none. */
export type ParsedToml =
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly line: number; readonly why: string };

/** The parser is loaded with the first TOML file there is: few repositories have one. */
export async function parseToml(text: string): Promise<ParsedToml> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return { kind: 'parsed', value: parse(text.replace(/^\uFEFF/, '')) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? 'it is no TOML';
    return { kind: 'broken', line: error.line, why };
  }
}
