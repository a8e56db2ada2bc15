// A model that tries what a model could try: every text it gives is meant to run, to hide or to break something.
import type { RecordedRequest, Reply, Script } from '../../wire/support/strictServer';

/** Runs, if anything runs. */
export const markup =
  '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><svg onload="globalThis.pwned=1">';
/** Links that do something when they are clicked, and an icon that looks like the editor's own. */
export const links =
  '[Allow](command:workbench.action.closeWindow) [x](javascript:globalThis.pwned=1) [d](data:text/html,x) $(trash) $(sync~spin)';
/** Reorders and hides: an override, an isolate, zero width, terminal colours, a terminal's link, a title. */
export const hidden =
  'a\u202etxt.exe\u2066 \u200bz\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007t\u001b]8;;\u0007\u001b]0;title\u0007';
export const placeholders = '{0} {1} %s %d';

export const hostileObjective = `Do it ${links} ${markup} ${placeholders} \u202erev`;
/** A name with markup, an icon, a line break and an override. */
export const hostileName = 'src/$(zap) {0} <b>\n\u202eB [c](command:x).js';
export const addedByFix = 'src/$(zap) more.js';
export const findingTitle = `Wrong ${links} ${markup} ${placeholders}`;

const hostileText = [
  `# ${markup} ${links}`,
  hidden,
  '&#x202e;reversed&#x202c; ![p](https://evil.example/p.png) <a href="javascript:pwned=1" onclick="pwned=1">x</a>',
  `<div style="position:fixed;inset:0;z-index:9999">cover</div>`,
  'y'.repeat(1_000_000),
].join('\n\n');

const answer = (more: string): Reply['content'][number] => ({
  type: 'text',
  text: `SUMMARY: done ${markup} ${links} ${hidden}\n\nCHANGES:\n- ${hostileName.replace('\n', ' ')}: ${markup}\n\nEVIDENCE:\n- src/duration.js:1: ${links}\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.${more}`,
});
const use = (name: string, input: unknown): Reply['content'][number] => ({ type: 'tool_use', name, input });
const reply = (...content: Reply['content']): Reply => ({ content, deltaChars: 100_000 });

/** Longer than a notification shows: what matters is at its end. */
export const longCommand = `echo ${'#'.repeat(2_000)}; echo the end`;
export const hostileCommand = `echo "${hidden}" # ${links} ${markup}\n\n\n\necho second; head -c 1000000 /dev/zero | tr '\\0' q`;

const first: readonly Reply[] = [
  reply(
    { type: 'text', text: hostileText },
    use('Write', { file_path: hostileName, content: `${markup}\n${'w'.repeat(1_000_000)}\n` }),
  ),
  reply({ type: 'text', text: hidden }, use('Bash', { command: hostileCommand, description: links })),
  reply(use('Bash', { command: longCommand })),
  reply(answer('')),
];
const fix: readonly Reply[] = [
  reply(use('Write', { file_path: addedByFix, content: 'more\n' })),
  reply(answer('')),
];
const judging: readonly Reply[] = [
  reply(use('Bash', { command: 'node -e "process.exitCode = 3"' })),
  reply(
    use('ReportCheck', {
      title: `Own ${links}`,
      command: 'node -e "process.exitCode = 3"',
      call: 1,
      exitCode: 3,
      observed: `${hidden}${markup}`,
      result: 'fail',
    }),
    use('ReportFinding', {
      path: hostileName,
      line: 1,
      severity: 'error',
      title: findingTitle,
      detail: `${markup}\n${links}\n${hidden}\n${'d'.repeat(100_000)}`,
      call: 1,
    }),
  ),
  reply(answer('\n\nVERDICT: FAIL')),
];

/** Plays the first Run, its verification, a fix and the next verification. */
export function hostileModel(): Script {
  let runs = 0;
  return (request) => {
    const turn = answersIn(request);
    const isVerifier = /Agent: verification/.test(request.rawBody);
    if (turn === 0 && !isVerifier) runs += 1;
    const scene = isVerifier ? judging : runs === 1 ? first : fix;
    return scene[Math.min(turn, scene.length - 1)] ?? reply(answer(''));
  };
}

function answersIn({ body }: RecordedRequest): number {
  const { messages } = body;
  if (!Array.isArray(messages)) return 0;
  return messages.filter((message) => JSON.stringify(message).includes('"role":"assistant"')).length;
}
