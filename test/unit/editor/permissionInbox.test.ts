import assert from 'node:assert/strict';
import { silentLogger } from '../../../src/base/logger';
import { CommandConsent } from '../../../src/editor/consent';
import { QuestionInbox } from '../../../src/editor/permissionInbox';
import type { PermissionQuestion } from '../../../src/tasks/permission';
import { makeRun, makeTask } from '../../fakes/records';

const question = (id: string): PermissionQuestion => ({
  id,
  taskId: makeTask().id,
  runId: makeRun().id,
  agent: 'general',
  tool: 'Bash',
  command: 'npm run x',
});
const never = new AbortController().signal;

function memory(): {
  get(key: string): unknown;
  update(key: string, value: unknown): Promise<void>;
  map: Map<string, unknown>;
} {
  const map = new Map<string, unknown>();
  return {
    map,
    get: (key) => map.get(key),
    update: async (key, value) => void (value === undefined ? map.delete(key) : map.set(key, value)),
  };
}

describe('the permission inbox', () => {
  it('keeps a question until the user answers it, and tells of both', async () => {
    const inbox = new QuestionInbox({ logger: silentLogger });
    let changes = 0;
    inbox.onDidChange(() => {
      changes += 1;
    });
    const [first, second] = [inbox.ask(question('q1'), never), inbox.ask(question('q2'), never)];
    assert.deepEqual(
      inbox.pending.map(({ id }) => id),
      ['q1', 'q2'],
    );
    assert.ok(inbox.answer('q2', false));
    assert.ok(inbox.answer('q1', true));
    assert.deepEqual(await first, { kind: 'allowed', by: 'user' });
    assert.equal((await second).kind, 'denied');
    assert.equal(inbox.pending.length, 0);
    assert.equal(changes, 4);
  });

  it('answers nothing twice', async () => {
    const inbox = new QuestionInbox({ logger: silentLogger });
    const asked = inbox.ask(question('q1'), never);
    assert.ok(inbox.answer('q1', true));
    assert.ok(!inbox.answer('q1', false));
    assert.ok(!inbox.answer('nobody asked', true));
    assert.equal((await asked).kind, 'allowed');
  });

  it('lets a question go with the Run that asked, as denied', async () => {
    const inbox = new QuestionInbox({ logger: silentLogger });
    const controller = new AbortController();
    const asked = inbox.ask(question('q1'), controller.signal);
    controller.abort('user');
    assert.equal((await asked).kind, 'denied');
    assert.equal(inbox.pending.length, 0);
    assert.equal((await inbox.ask(question('q2'), controller.signal)).kind, 'denied');
  });
});

describe('the consent for commands', () => {
  it('is kept per repository, outside of it, and can be taken back', async () => {
    const kept = memory();
    const consent = new CommandConsent({ memory: kept, logger: silentLogger });
    await consent.set('/a/.git', true);
    assert.ok(consent.isGiven('/a/.git'));
    assert.ok(!consent.isGiven('/b/.git'));
    await consent.set('/a/.git', false);
    assert.ok(!consent.isGiven('/a/.git'));
    assert.equal(kept.map.size, 0);
  });

  it('lifts the asking for that repository only', async () => {
    const consent = new CommandConsent({ memory: memory(), logger: silentLogger });
    await consent.set('/a/.git', true);
    const inbox = new QuestionInbox({ logger: silentLogger });
    const allowed = await consent.portFor('/a/.git', inbox).ask(question('q1'), never);
    assert.deepEqual(allowed, { kind: 'allowed', by: 'consent' });
    void consent.portFor('/b/.git', inbox).ask(question('q2'), never);
    assert.deepEqual(
      inbox.pending.map(({ id }) => id),
      ['q2'],
    );
    inbox.answer('q2', false);
  });
});
