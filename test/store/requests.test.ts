import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import type { Store, TaskRequest } from '../../src/store/store';
import { Board, HandClock, HandTicker, LoggedLines, silentWatch, someRun, someTask } from './boards';
import { ChildProcesses } from './childProcesses';

const message = (text: string): TaskRequest => ({ kind: 'message', runId: someRun, text });

/** Collects requests and waits for a number of them. */
class Inbox {
  readonly requests: TaskRequest[] = [];
  private wake = (): void => undefined;

  readonly take = (request: TaskRequest): void => {
    this.requests.push(request);
    this.wake();
  };

  async holds(count: number): Promise<readonly TaskRequest[]> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.requests;
  }
}

describe('Requests to the owner of a Run', () => {
  let board: Board;
  let store: Store;
  const clock = new HandClock();
  const logger = new LoggedLines();
  beforeEach(async () => {
    logger.lines.length = 0;
    board = await Board.create();
    store = await board.open({ clock, logger });
  });
  afterEach(() => board.remove());

  const names = (): Promise<string[]> => readdir(board.path('tasks', someTask, 'requests'));

  it('that were there before are served first, all in the order they were sent, each once, and are removed', async () => {
    const sender = await board.open({ clock });
    const sent: TaskRequest[] = [
      { kind: 'stop', runId: someRun, force: false },
      message('zwei ü'),
      { kind: 'answer', runId: someRun, questionId: 'q1', allowed: true },
    ];
    await Promise.all(sent.map((request) => sender.requests.send(someTask, request)));
    const inbox = new Inbox();
    const serving = store.requests.serve(someTask, inbox.take);
    assert.deepEqual(await inbox.holds(3), sent);
    await sender.requests.send(someTask, message('later'));
    assert.deepEqual((await inbox.holds(4)).at(-1), message('later'));
    serving.dispose();
    await store.dispose();
    assert.deepEqual(await names(), []);
    assert.equal(inbox.requests.length, 4);
  });

  it('keep their order when the clock goes back', async () => {
    const own = new HandClock();
    const sender = await board.open({ clock: own });
    for (const text of ['a', 'b', 'c']) {
      await sender.requests.send(someTask, message(text));
      own.move(-1_000);
    }
    const inbox = new Inbox();
    store.requests.serve(someTask, inbox.take);
    assert.deepEqual(await inbox.holds(3), ['a', 'b', 'c'].map(message));
  });

  it('are found by polling alone, also when their folder comes later', async () => {
    const hand = new HandTicker();
    const polled = await board.open({ machine: { every: hand.every, watchFolder: silentWatch } });
    const inbox = new Inbox();
    const serving = polled.requests.serve(someTask, inbox.take);
    await store.requests.send(someTask, message('one'));
    hand.tick(500);
    assert.deepEqual(await inbox.holds(1), [message('one')]);
    serving.dispose();
    assert.equal(hand.count(500), 0);
  });

  it('are found by the watch alone', async () => {
    await mkdir(board.path('tasks', someTask, 'requests'), { recursive: true });
    const watched = await board.open({ machine: { every: new HandTicker().every } });
    const inbox = new Inbox();
    watched.requests.serve(someTask, inbox.take);
    await store.requests.send(someTask, message('one'));
    assert.deepEqual(await inbox.holds(1), [message('one')]);
  });

  it('that are broken are kept aside and logged, and the others are served', async () => {
    const folder = board.path('tasks', someTask, 'requests');
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/0.json`, '{"v":1');
    await writeFile(`${folder}/1.json`, JSON.stringify({ v: 1, at: '', request: { kind: 'dance' } }));
    await writeFile(`${folder}/2.json`, JSON.stringify({ v: 2, at: '', request: {} }));
    await store.requests.send(someTask, message('good'));
    const inbox = new Inbox();
    const serving = store.requests.serve(someTask, inbox.take);
    assert.deepEqual(await inbox.holds(1), [message('good')]);
    serving.dispose();
    await store.dispose();
    assert.deepEqual(
      (await names()).sort(),
      [0, 1, 2].map((at) => `${at}.json.corrupt-20260304T050607089`),
    );
    assert.equal(logger.lines.filter((line) => line.startsWith('warn a request')).length, 3);
  });

  it('for another owner stay, and are offered again', async () => {
    const hand = new HandTicker();
    const polled = await board.open({ machine: { every: hand.every, watchFolder: silentWatch } });
    await store.requests.send(someTask, message('theirs'));
    await store.requests.send(someTask, message('ours'));
    const inbox = new Inbox();
    const mine = polled.requests.serve(someTask, (request) => {
      inbox.take(request);
      return request.kind === 'message' && request.text === 'ours';
    });
    await inbox.holds(2);
    hand.tick(500);
    assert.deepEqual(await inbox.holds(3), ['theirs', 'ours', 'theirs'].map(message));
    mine.dispose();
    await polled.dispose();
    assert.equal((await names()).length, 1);
  });

  it('whose handler throws are not served twice and do not stop the next', async () => {
    await store.requests.send(someTask, message('bad'));
    await store.requests.send(someTask, message('good'));
    const inbox = new Inbox();
    store.requests.serve(someTask, (request) => {
      inbox.take(request);
      if (inbox.requests.length === 1) throw new Error('handler');
    });
    assert.deepEqual(await inbox.holds(2), [message('bad'), message('good')]);
    assert.ok(logger.lines.some((line) => line.startsWith('error a request failed')));
  });

  it('are not served after dispose', async () => {
    const inbox = new Inbox();
    store.requests.serve(someTask, inbox.take).dispose();
    await store.requests.send(someTask, message('late'));
    await store.dispose();
    assert.equal(inbox.requests.length, 0);
    assert.equal((await names()).length, 1);
  });

  it('do not keep a process alive that waits for them', async () => {
    const children = await ChildProcesses.of('idleServer');
    try {
      const child = children.start({ commonDir: board.commonDir });
      const { code, errors } = await child.ended;
      assert.deepEqual({ code, errors }, { code: 0, errors: '' });
      assert.deepEqual(child.lines, ['serving']);
    } finally {
      await children.remove();
    }
  });
});
