// The editor reads markup in some of the texts it is given. What models, files and users wrote holds none.
import { clip, visibleText } from '../model/plainText';

/** For notifications, which make links of `[text](command:…)`: a mark that is not seen keeps the two apart. */
export function withoutLinks(message: string): string {
  return message.replaceAll('](', ']\u2060(');
}

/** For quick picks, which draw an icon for `$(name)`. */
export function withoutIcons(text: string): string {
  return text.replaceAll('$(', '\\$(');
}

/** A notification is one line and is cut at a thousand characters; what is around the command needs some of them. */
const longestNotice = 700;

/** A command as a notification can show all of it, line breaks as `⏎`; `undefined` when it is too long for that. */
export function wholeInNotice(command: string): string | undefined {
  const line = visibleText(command).replace(/\s*\n\s*/g, ' ⏎ ');
  return line.length > longestNotice ? undefined : line;
}

const longestTooltip = 3_000;

/** A command for a tooltip: everything that would hide or reorder is seen. */
export function commandTooltip(command: string): string {
  return clip(visibleText(command), longestTooltip);
}

/** A file's name, or a path, with everything in it seen that would hide, reorder or break the line. */
export function visibleName(name: string): string {
  return visibleText(name).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
