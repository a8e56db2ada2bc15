// A loopback model that streams much, slowly. It runs outside the editor, whose extension host is what is measured.
import { call, finalAnswer, turnOf } from '../../cli/support/job';
import { type Script, type StrictServer, startStrictServer } from '../../wire/support/strictServer';

/** Where a test inside the editor finds its address. */
export const streamerVariable = 'TRIBUTARY_TEST_STREAMER';
export const streamerKey = 'test-key';

const talk = 'One more sentence about what is being done here, and why. '.repeat(80);
const pace = { deltaChars: 20, delayMs: 10 };

/** Each Run reads a file, writes one, answers; much is said each time. */
export const streamingWork = (read: string): Script => {
  return (request) => {
    const turns = [
      call('Read', { file_path: read }, talk),
      call('Write', { file_path: 'notes.md', content: 'A note.\n' }, talk),
      { content: [{ type: 'text' as const, text: `${finalAnswer}\n\n${talk}` }] },
    ];
    const reply = turns[Math.min(turnOf(request), 2)];
    if (reply === undefined) throw new Error('no reply');
    return { ...reply, ...pace };
  };
};

export async function startStreamer(): Promise<StrictServer> {
  const server = await startStrictServer({ apiKey: streamerKey });
  server.script(streamingWork('README.md'));
  return server;
}
