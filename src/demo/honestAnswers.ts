import type { Playbook } from './playbook';

/** What the demo model says to an objective it does not know: that nothing was done, and what it could do. */
export function notAnObjective(playbooks: readonly Playbook[], agent: string): string {
  const objectives = playbooks.map((playbook) => `"${playbook.objective}"`).join(', ');
  return sections({
    summary:
      'This is the scripted demo model. It only plays its sample objectives, and this is none of them, so nothing was done.',
    blocker: `The demo plays only: ${objectives}. Set an API key to work on an objective of your own.`,
    agent,
  });
}

/** What it says to its objective in another project. */
export const notTheSample = [
  'SUMMARY: This is the scripted demo model. It only plays on its own sample repository, and this is another one, so nothing was done.',
  'CHANGES:\nNone.',
  'EVIDENCE:\nNone.',
  'RISKS:\nNone.',
  'BLOCKERS:\n- The files of the sample are not here. Open the sample, or set an API key to work on this project.',
].join('\n\n');

export function noPartFor(agent: string, playbook: Playbook): string {
  const agents = [...new Set(playbook.scenes.flatMap((scene) => scene.agents))].join(', ');
  return sections({
    summary: `This is the scripted demo model. It has no part for the agent "${agent}" in this situation, so nothing was done.`,
    blocker: `For this objective the demo plays only: ${agents}. Set an API key to use other agents.`,
    agent,
  });
}

/** What it says to a message after its last answer: its script is over, and nothing of that answer is told again. */
export function noMoreScript(agent: string): string {
  return sections({
    summary:
      'This is the scripted demo model. Its script ended with the answer before; it cannot work on this message and did nothing.',
    blocker: 'Set an API key to go on with messages of your own.',
    agent,
  });
}

function sections({ summary, blocker, agent }: { summary: string; blocker: string; agent: string }): string {
  const answer = [
    `SUMMARY: ${summary}`,
    'CHANGES:\nNone.',
    'EVIDENCE:\nNone.',
    'RISKS:\nNone.',
    `BLOCKERS:\n- ${blocker}`,
  ].join('\n\n');
  // Nothing was checked, which is neither a pass nor a failure.
  return agent === 'verification' ? `${answer}\n\nVERDICT: PARTIAL` : answer;
}
