import { commandInputSchema, textBlockSchema, textOf } from '../../model/messages';
import { baseText } from '../../model/packet';
import { plainText } from '../../model/plainText';
import type { Run } from '../../model/run';
import type { Task } from '../../model/task';
import type { Transcript, TranscriptEntry } from '../../model/transcript';
import type { Verdict } from '../../model/verdict';

/** A transcript as Markdown that reads well in any viewer; text of tools stands in fences, so that none of it is obeyed. */
export function transcriptMarkdown(task: Task, run: Run, { header, entries }: Transcript): string {
  const verdict = task.verdicts.findLast(({ runId }) => runId === run.id);
  const parts = [
    `# ${oneLine(task.packet.objective)}`,
    [
      `- Agent: ${oneLine(run.agent)} (${run.kind})`,
      `- Model: ${oneLine(header.model)}`,
      `- Base: ${oneLine(baseText(task.packet.repository.base))} (${header.base.commit.slice(0, 12)})`,
      `- Started: ${header.startedAt}`,
      `- State: ${run.status.state}`,
    ].join('\n'),
    ...entries.flatMap(entryParts),
    ...(verdict === undefined ? [] : verdictParts(verdict)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function entryParts(entry: TranscriptEntry): string[] {
  switch (entry.type) {
    case 'message':
      return entry.content.flatMap((block) => {
        const text = textBlockSchema.safeParse(block);
        return text.success && text.data.text.trim() !== '' ? ['## Agent', plainText(text.data.text)] : [];
      });
    case 'message.cut':
      // Where no answer had begun, none was cut off: the retry or the end that follows says why.
      return entry.partialText.trim() === ''
        ? []
        : ['## Agent', plainText(entry.partialText), `*Cut off: ${oneLine(entry.reason)}*`];
    case 'user':
      return [`## ${entry.origin === 'user' ? 'User' : 'To the agent'}`, fenced(textOf(entry.content))];
    case 'tool.started':
      return [`### ${oneLine(entry.name)}`, fenced(inputText(entry.input))];
    case 'tool.ended': {
      const exit = typeof entry.exitCode === 'number' ? `, exit code ${entry.exitCode}` : '';
      const word = entry.isStopped === true ? 'stopped' : entry.isError ? 'failed' : 'done';
      const text = typeof entry.content === 'string' ? entry.content : textOf(entry.content);
      return [`Result (${word}${exit}, ${Math.round(entry.durationMs)} ms):`, fenced(text)];
    }
    case 'question':
      return ['Asked whether it may run:', fenced(entry.command)];
    case 'answer':
      return [`${entry.allowed ? 'Allowed' : 'Not allowed'} by ${oneLine(entry.by)}.`];
    case 'retry':
      return [
        `*Retry ${entry.attempt} after ${entry.waitMs} ms: ${oneLine(entry.code)}, ${oneLine(entry.message)}*`,
      ];
    case 'state':
      return [
        `*Run ${oneLine(entry.state)}${entry.reason === undefined ? '' : `: ${oneLine(entry.reason)}`}*`,
      ];
    case 'note':
      return [`*${oneLine(entry.text)}*`];
    case 'message.started':
    case 'usage':
      return [];
  }
}

function verdictParts({ verdict, checks, findings, reasons, tree }: Verdict): string[] {
  return [
    `## Verdict: ${verdict === 'none' ? 'none given' : verdict}`,
    [
      ...checks.map(
        ({ command, exitCode, result, evidence }) =>
          `- ${result}: ${oneLine(command)} (exit code ${exitCode ?? 'none'}, ${evidence})`,
      ),
      ...findings.map(({ location, severity, title, detail }) => {
        const place = location === undefined ? '' : `${oneLine(location.path)}:${location.line} `;
        return `- ${place}${severity}: ${oneLine(title)}${detail === '' ? '' : `. ${oneLine(detail)}`}`;
      }),
      ...reasons.map((reason) => `- ${oneLine(reason)}`),
      `- Holds for the tree ${oneLine(tree)}`,
    ].join('\n'),
  ];
}

function inputText(input: unknown): string {
  const command = commandInputSchema.safeParse(input);
  return command.success ? command.data.command : (JSON.stringify(input, undefined, 2) ?? '');
}

/** In a fence longer than any run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${plainText(text).trimEnd()}\n${fence}`;
}

function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}
