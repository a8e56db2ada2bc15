import assert from 'node:assert/strict';
import { pageFacts } from '../../../src/editor/transcript/pageFacts';
import { RunFeed } from '../../../src/editor/transcript/runFeed';
import { at, makeRun, makeTask } from '../../fakes/records';

describe('what the page is told beside the entries', () => {
  it('has the messages that no transcript holds yet, shortened, oldest first', () => {
    const run = makeRun();
    const messages = [
      { id: 'm1', at, text: 'Use tabs' },
      { id: 'm2', at, text: 'x'.repeat(5_000) },
    ];
    const task = { ...makeTask(), runs: [run], messages };
    const feed = new RunFeed(() => Promise.reject(new Error('nothing is read')));
    const { unsent } = pageFacts({ task, run, feed, pending: [] });
    assert.deepEqual(unsent, ['Use tabs', 'x'.repeat(300)]);
  });
});
