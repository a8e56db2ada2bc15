import Anser from 'anser';
import { visibleText } from '../src/model/plainText';

/** A stretch of output in one style; `classes` are of our style sheet. */
export interface TerminalSpan {
  readonly text: string;
  readonly classes: string;
}

// Everything that starts with ESC or CSI but selects a style goes: titles, links, cursor, clipboard, device strings.
const otherSequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*(?:[@-ln-~]|$)|(?:\u001b\[|\u009b)[0-9;:]*[^0-9;:m\u001b][0-?]*[ -/]*m|\u001b[ -/]*[0-Z\\-~]/g;

/** Output of a command with its colours. Control characters that are left are shown, not obeyed. */
export function terminalSpans(output: string): TerminalSpan[] {
  const plain = lastWritten(output.replace(/\r\n/g, '\n').replace(otherSequences, ''));
  return Anser.ansiToJson(plain, { use_classes: true, remove_empty: true }).map((span) => ({
    text: visibleText(span.content),
    classes: classesOf(span),
  }));
}

/** A carriage return begins its line anew: what a progress bar wrote before is gone on a terminal, too. */
function lastWritten(text: string): string {
  return text.includes('\r') ? text.replace(/^.*\r(?=[^\n])/gm, '').replace(/\r/g, '') : text;
}

type Span = ReturnType<typeof Anser.ansiToJson>[number];

function classesOf({ fg, bg, fg_truecolor, bg_truecolor, decorations }: Span): string {
  const front = colourName(fg, fg_truecolor);
  const back = colourName(bg, bg_truecolor);
  // Text in the colour of its ground would hide; concealed text is shown for the same reason.
  const style = decorations.filter((one) => one !== 'hidden' && one !== 'blink').map((one) => `t-${one}`);
  return [
    ...(front === undefined || front === back ? [] : [`t-${front}`]),
    ...(back === undefined || front === back ? [] : [`t-on-${back}`]),
    ...style,
  ].join(' ');
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const palette: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [190, 40, 40],
  [30, 160, 60],
  [190, 160, 20],
  [50, 90, 210],
  [170, 60, 180],
  [30, 160, 190],
  [210, 210, 210],
];

/** One of the sixteen colours a theme has; others become the nearest of them, so that every theme can be read. */
function colourName(name: string | null, rgb: string | null): string | undefined {
  if (name === null || name === '') return undefined;
  const plain = /^ansi-(bright-)?(\w+)$/.exec(name);
  const base = plain?.[2];
  if (base !== undefined && names.includes(base)) return `${plain?.[1] ?? ''}${base}`;
  const numbered = /^ansi-palette-(\d+)$/.exec(name)?.[1];
  if (numbered !== undefined) return nearest(paletteColour(Number(numbered)));
  const parts = (rgb ?? '').split(',').map(Number);
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = parts;
  return [red, green, blue].some(Number.isNaN) ? undefined : nearest([red, green, blue]);
}

function paletteColour(number: number): readonly [number, number, number] {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = number - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

function nearest([red, green, blue]: readonly [number, number, number]): string {
  const distances = palette.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  return names[distances.indexOf(Math.min(...distances))] ?? 'white';
}
