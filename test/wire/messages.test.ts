import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import type { Task } from '../../src/model/task';
import { openStore } from '../../src/store/openStore';
import { cleanUp, makeRepo, type TempRepo } from '../git/support/tempRepo';
import {
  type RecordedRequest,
  type Reply,
  type StrictServer,
  startStrictServer,
} from './support/strictServer';

const said = (text: string): Reply => ({ content: [{ type: 'text', text }] });
const answer = (summary: string): Reply =>
  said(
    `SUMMARY: ${summary}\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.`,
  );
const write = (path: string): Reply => ({
  content: [{ type: 'tool_use', name: 'Write', input: { file_path: path, content: 'new\n' } }],
});

/** Something that a test lets happen when it is ready for it. */
class Gate {
  readonly opened: Promise<void>;
  open: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

describe('a message to the agent of a Task', () => {
  let server: StrictServer;
  let repo: TempRepo;
  const cores: Core[] = [];
  let key: string | undefined;

  const open = async (): Promise<Core> => {
    const core = await composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url } }),
      env: {},
      credentials: async () => (key === undefined ? undefined : { kind: 'apiKey', value: key }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
    cores.push(core);
    return core;
  };
  const begin = async (core: Core, verify: 'always' | 'never' = 'never') =>
    core.tasks.start({ packet: await core.tasks.prepare({ objective: 'Add a file' }), verify });
  const now = async (core: Core, { id }: Task): Promise<Task> => (await core.tasks.find(id)).task;
  const texts = (task: Task): string[] => task.messages.map(({ text }) => text);
  const asked = (text: string): RecordedRequest[] =>
    server.requests.filter(({ rawBody }) => rawBody.includes(text));
  const times = (request: RecordedRequest | undefined, text: string): number =>
    (request?.rawBody.split(text).length ?? 1) - 1;

  beforeEach(async () => {
    key = 'test-key';
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeRepo({ files: { 'a.txt': 'one\n' } });
  });

  afterEach(async () => {
    await Promise.all(cores.splice(0).map((core) => core.dispose()));
    await server.close();
    await cleanUp();
    assert.deepEqual(server.refusals, []);
  });

  /** The first request is never answered, every later one at once; opens when the first is there. */
  function hangsFirst(): Gate {
    const reached = new Gate();
    server.script((_, index) => {
      if (index > 0) return answer('done');
      reached.open();
      return new Promise<Reply>(() => undefined);
    });
    return reached;
  }

  it('that a stopped Run did not take is kept, is said not to be sent, and goes out before the next one', async () => {
    const reached = hangsFirst();
    const core = await open();
    const { task, settled } = await begin(core);
    await reached.opened;
    await core.tasks.followUp(task.id, 'First message');
    await core.tasks.stop({ taskId: task.id });
    await settled;
    assert.deepEqual(texts(await now(core, task)), ['First message']);
    assert.equal(server.requests.length, 1);
    const next = await core.tasks.followUp(task.id, 'Second message');
    const after = (await next.settled).task;
    const request = server.requests[1];
    assert.deepEqual([times(request, 'First message'), times(request, 'Second message')], [1, 1]);
    assert.ok(
      (request?.rawBody.indexOf('First message') ?? 0) < (request?.rawBody.indexOf('Second message') ?? 0),
    );
    assert.deepEqual(texts(await now(core, after)), []);
  });

  it('that an interrupted Run did not take goes out with its resume, in another process', async () => {
    const reached = hangsFirst();
    const core = await open();
    const { task, settled } = await begin(core);
    await reached.opened;
    await core.tasks.followUp(task.id, 'Use tabs please');
    await core.dispose();
    await settled;
    const other = await open();
    assert.deepEqual(texts(await now(other, task)), ['Use tabs please']);
    await (await other.tasks.resume(task.id)).settled;
    assert.equal(times(server.requests[1], 'Use tabs please'), 1);
    assert.deepEqual(texts(await now(other, task)), []);
  });

  it('during a verification waits for the author: the verifier never sees it, one follow-up Run does', async () => {
    const [verifying, left] = [new Gate(), new Gate()];
    server.script(async ({ rawBody }, index) => {
      if (index === 0) return write('new.txt');
      if (!rawBody.includes('Run kind: verify')) return answer('done');
      verifying.open();
      await left.opened;
      const { content } = answer('judged');
      const block = content?.[0];
      return said(`${block !== undefined && 'text' in block ? String(block.text) : ''}\n\nVERDICT: PASS`);
    });
    const core = await open();
    const { task, settled } = await begin(core, 'always');
    await verifying.opened;
    const sent = await core.tasks.followUp(task.id, 'And a second file');
    left.open();
    const { runs } = await sent.settled;
    assert.deepEqual(
      (await settled).runs.map(({ kind }) => kind).filter((kind) => kind === 'followUp'),
      ['followUp'],
    );
    assert.equal(runs.at(-1)?.status.state, 'completed');
    const carriers = asked('And a second file');
    assert.ok(carriers.length > 0);
    for (const { rawBody } of carriers) assert.doesNotMatch(rawBody, /Run kind: verify/);
    assert.deepEqual(texts(await now(core, task)), []);
  });

  it('to a Run of another process goes out at that Run’s next step', async () => {
    const [reached, left] = [new Gate(), new Gate()];
    server.script(async (_, index) => {
      if (index > 0) return answer('done');
      reached.open();
      await left.opened;
      return write('new.txt');
    });
    const [owner, other] = [await open(), await open()];
    const { task, settled } = await begin(owner);
    await reached.opened;
    const sent = await other.tasks.followUp(task.id, 'From elsewhere');
    await sent.settled;
    left.open();
    const { runs } = await settled;
    assert.deepEqual(
      runs.map(({ kind }) => kind),
      ['first'],
    );
    assert.equal(times(server.requests[1], 'From elsewhere'), 1);
    assert.deepEqual(texts(await now(other, task)), []);
  });

  it('that came as a request to a Run which is over is kept with the Task', async () => {
    server.script(() => answer('done'));
    const core = await open();
    const { task, settled } = await begin(core);
    const runId = (await settled).runs[0]?.id ?? assert.fail('no run');
    const store = await openStore({ commonDir: join(repo.root, '.git') });
    await store.requests.send(task.id, { kind: 'message', runId, text: 'Left as a file' });
    await (await core.tasks.followUp(task.id, 'By the front door')).settled;
    await store.dispose();
    await (await core.tasks.followUp(task.id, 'Once more')).settled;
    assert.equal(times(server.requests.at(-1), 'Left as a file'), 1);
  });

  it('that a transcript holds is not sent a second time when its process died before it was taken off', async () => {
    const reached = hangsFirst();
    const core = await open();
    const { task, settled } = await begin(core);
    await reached.opened;
    await core.tasks.followUp(task.id, 'Only once');
    const kept = (await now(core, task)).messages;
    await core.tasks.stop({ taskId: task.id });
    await settled;
    const sent = new Gate();
    server.script(() => {
      sent.open();
      return new Promise<Reply>(() => undefined);
    });
    const second = await core.tasks.resume(task.id);
    await sent.opened;
    await core.tasks.stop({ taskId: task.id });
    await second.settled;
    const store = await openStore({ commonDir: join(repo.root, '.git') });
    await store.tasks.update(task.id, (current) => ({ ...current, messages: [...kept] }));
    await store.dispose();
    server.script(() => answer('done'));
    await (await core.tasks.resume(task.id)).settled;
    assert.equal(times(server.requests.at(-1), 'Only once'), 1);
    assert.deepEqual(texts(await now(core, task)), []);
  });

  it('can be sent again after a Run that failed before its conversation began', async () => {
    const core = await open();
    const { task, settled } = await begin(core);
    await settled;
    key = undefined;
    const without = await open();
    const failed = await (await without.tasks.followUp(task.id, 'No key yet')).settled;
    assert.equal(failed.runs[0]?.status.state, 'failed');
    assert.deepEqual(texts(await now(without, task)), ['No key yet']);
    key = 'test-key';
    const { runs } = await (await without.tasks.followUp(task.id, 'Now')).settled;
    assert.equal(runs[0]?.status.state, 'completed');
    assert.deepEqual(
      ['No key yet', 'Now'].map((text) => times(server.requests.at(-1), `"${text}"`)),
      [1, 1],
    );
  });

  for (const ending of ['accept', 'discard'] as const)
    it(`after ${ending} begins a new Task from HEAD, which is told of the earlier one`, async () => {
      server.script((_, index) => (index === 0 ? write('new.txt') : answer('done')));
      const core = await open();
      const { task, settled } = await begin(core);
      await settled;
      await core.tasks[ending](task.id);
      const next = await core.tasks.followUp(task.id, 'Now the other one');
      const { task: created } = await next.settled;
      assert.notEqual(created.id, task.id);
      assert.equal(created.packet.objective, 'Now the other one');
      assert.equal(created.packet.repository.base.commit, (await repo.git('rev-parse', 'HEAD')).trim());
      assert.match(server.requests.at(-1)?.rawBody ?? '', /Its objective: Add a file/);
      assert.equal((await now(core, task)).state, ending === 'accept' ? 'accepted' : 'discarded');
    });
});
