// Prompts are Markdown files; the bundler inlines them as text.
declare module '*.md' {
  const text: string;
  export default text;
}
