import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { endLeftovers } from '../../src/process/leftovers';
import { ownerMarkerVariable, startKeyOf, startVariable } from '../../src/process/processTree';

const isLinux = process.platform === 'linux';

describe('What killed processes left running', () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /** A program that prints the pid that matters and stays. */
  async function leftover(owner: string | undefined, script: string): Promise<number> {
    const child = spawn('sh', ['-c', script], {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(owner === undefined ? {} : { [ownerMarkerVariable]: owner }),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    started.push(child);
    const [text] = await once(child.stdout, 'data');
    return Number(String(text));
  }

  const plain = 'echo $$; exec sleep 60';

  if (isLinux) {
    it('is ended by its mark, whatever it does against it; what is not marked so stays', async () => {
      const [dead, living] = [randomUUID(), randomUUID()];
      const ended = await Promise.all([
        leftover(dead, plain),
        leftover(dead, `trap '' TERM; echo $$; while :; do sleep 1; done`),
        leftover(dead, `setsid sh -c 'echo $$; exec sleep 60' & wait`),
        // Its own mark is gone, and it is still the child, or in the session, of one that has it.
        leftover(dead, `(env -i /bin/sh -c 'echo $$; exec /bin/sleep 60' &) ; exec sleep 60`),
        leftover(dead, `env -i /bin/sh -c 'echo $$; exec /bin/sleep 60' & wait`),
      ]);
      const staying = await Promise.all([leftover(living, plain), leftover(undefined, plain)]);
      assert.equal(await startVariable(ended[0] ?? 0, ownerMarkerVariable), dead);
      await endLeftovers(new Set([dead]));
      for (const pid of ended) assert.equal(await startKeyOf(pid), undefined, `${pid} is gone`);
      for (const pid of staying) assert.notEqual(await startKeyOf(pid), undefined, `${pid} lives`);
    });

    it('never takes the innocent who share a session with it', async () => {
      const dead = randomUUID();
      const bystander = spawn('sleep', ['60'], { stdio: 'ignore', env: { PATH: process.env['PATH'] ?? '' } });
      started.push(bystander);
      // Not detached: it is in the session of this test, like the bystander.
      const child = spawn('sleep', ['60'], {
        env: { PATH: process.env['PATH'] ?? '', [ownerMarkerVariable]: dead },
        stdio: 'ignore',
      });
      started.push(child);
      await Promise.all([once(bystander, 'spawn'), once(child, 'spawn')]);
      await endLeftovers(new Set([dead]));
      assert.equal(await startKeyOf(child.pid ?? 0), undefined);
      assert.notEqual(await startKeyOf(bystander.pid ?? 0), undefined);
    });

    it('lets a program that takes SIGTERM for an order end by itself', async () => {
      const dead = randomUUID();
      const child = spawn(
        'sh',
        ['-c', `trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done`],
        {
          env: { PATH: process.env['PATH'] ?? '', [ownerMarkerVariable]: dead },
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      started.push(child);
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += String(chunk);
      });
      await once(child.stdout, 'data');
      const closed = once(child, 'close');
      await endLeftovers(new Set([dead]));
      await closed;
      assert.match(text, /tidied/);
    });
  }

  it('is nothing when nobody died', async () => {
    await endLeftovers(new Set());
  });
});
