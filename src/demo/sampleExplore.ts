import type { Scene } from './playbook';

/** Reads only, and says where durations are parsed and used. */
export const explorePart: Scene = {
  agents: ['explore'],
  when: 'any',
  steps: [
    {
      id: 'look',
      say: 'I look where durations are parsed and who uses them.',
      calls: [
        { name: 'Glob', input: { pattern: '**/*.js' } },
        {
          name: 'Grep',
          as: 'uses',
          input: { pattern: 'parseDuration', output_mode: 'content', '-n': true },
          capture: {
            definition: ['src/duration\\.js:(\\d+):export function'],
            use: ['src/timer\\.js:(\\d+):.*setTimeout'],
          },
        },
        { name: 'Read', input: { file_path: 'src/duration.js' } },
      ],
      next: [{ when: { result: 'uses', contains: 'src/duration.js' }, to: 'done' }, { to: 'missing' }],
    },
    {
      id: 'done',
      say: [
        'SUMMARY: Durations are parsed in `src/duration.js` by `parseDuration`; `src/timer.js` uses it to set the timer, and `test/duration.test.js` tests it.',
        'CHANGES:\nNone.',
        'EVIDENCE:\n- src/duration.js:{{uses.definition}}: the parser\n- src/timer.js:{{uses.use}}: its only use',
        'RISKS:\n- The timer believes whatever the parser returns.',
        'BLOCKERS:\nNone.',
      ].join('\n\n'),
    },
    {
      id: 'missing',
      say: [
        'SUMMARY: There is no `parseDuration` in this repository.',
        'CHANGES:\nNone.',
        'EVIDENCE:\nNone.',
        'RISKS:\nNone.',
        'BLOCKERS:\n- The demo’s sample repository is needed for this objective.',
      ].join('\n\n'),
    },
  ],
};
