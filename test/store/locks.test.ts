import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FileOps, systemFileOps } from '../../src/base/atomicFile';
import { encodeLockName } from '../../src/store/lockFiles';
import { systemProcessTable } from '../../src/store/processIdentity';
import type { HeldLock, Store } from '../../src/store/store';
import { Board, HandClock } from './boards';
import { type Child, ChildProcesses } from './childProcesses';

/** A pid that no process has: above what Linux and macOS give out. */
const noSuchPid = 2 ** 30;

function lockContent(over: {
  pid?: number;
  host?: string;
  at?: string;
  bootId?: string;
  processStart?: string;
  nonce?: string;
}): string {
  const { at = '2026-03-04T05:06:07.089Z', bootId = 'other', nonce = 'abcdef', ...owner } = over;
  return JSON.stringify({
    v: 1,
    nonce,
    at,
    owner: { bootId, pid: noSuchPid, host: hostname(), ...owner },
  });
}

describe('A lock', () => {
  let board: Board;
  let store: Store;
  beforeEach(async () => {
    board = await Board.create();
    store = await board.open();
  });
  afterEach(() => board.remove());

  async function put(name: string, content: string): Promise<void> {
    await mkdir(board.path('locks'), { recursive: true });
    await writeFile(board.path('locks', name), content);
  }

  it('is a file with its owner and is gone after release', async () => {
    const lock = await store.locks.acquire('board');
    const content: unknown = JSON.parse(await readFile(board.path('locks', 'board.lock'), 'utf8'));
    const self = await store.owners.self();
    assert.ok(typeof content === 'object' && content !== null && 'owner' in content);
    assert.deepEqual({ ...(content.owner ?? {}), processStart: '' }, { ...self, processStart: '' });
    await lock.release();
    await lock.release();
    assert.deepEqual(await readdir(board.path('locks')), []);
  });

  it('admits one store at a time', async () => {
    const other = await board.open();
    const order: string[] = [];
    const first = await store.locks.acquire('board');
    const second = other.locks.acquire('board').then((lock) => {
      order.push('second');
      return lock;
    });
    await assert.rejects(other.locks.acquire('board', { waitMs: 0 }), { code: 'lockTimeout' });
    order.push('release');
    await first.release();
    await (await second).release();
    assert.deepEqual(order, ['release', 'second']);
  });

  it('is given in the order of the calls inside one process', async () => {
    const order: number[] = [];
    const held = await store.locks.acquire('git');
    const waiting = Array.from({ length: 20 }, (_, index) =>
      store.locks.withLock('git', async () => void order.push(index)),
    );
    await held.release();
    await Promise.all(waiting);
    assert.deepEqual(
      order,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it('lets only the first caller of a process look at the disk', async () => {
    let creations = 0;
    const ops: FileOps = {
      ...systemFileOps,
      link: async (from, to) => {
        if (to.endsWith('.lock')) creations += 1;
        await systemFileOps.link(from, to);
      },
    };
    const counted = await board.open({ machine: { ops } });
    await Promise.all(Array.from({ length: 10 }, () => counted.locks.withLock('git', async () => undefined)));
    assert.equal(creations, 10);
  });

  it('of different names does not wait for another', async () => {
    const first = await store.locks.acquire('branch:refs/heads/a');
    const second = await store.locks.acquire('branch:refs/heads/A');
    await Promise.all([first.release(), second.release()]);
  });

  it('is released when the body throws, and the error comes through', async () => {
    await assert.rejects(
      store.locks.withLock('board', () => Promise.reject(new Error('body'))),
      { message: 'body' },
    );
    await store.locks.withLock('board', async () => undefined, { waitMs: 0 });
  });

  it('names the pid of its holder and for how long when the wait is over', async () => {
    const clock = new HandClock();
    const holder = await board.open({ clock });
    const waiter = await board.open({ clock });
    const lock = await holder.locks.acquire('board');
    clock.move(4_200);
    const expected = {
      code: 'lockTimeout',
      message: new RegExp(
        `"board" has been held for 4\\.2 s by process ${process.pid} on .*gave up after 0\\.0 s`,
      ),
    };
    await assert.rejects(waiter.locks.acquire('board', { waitMs: 20 }), expected);
    await assert.rejects(holder.locks.acquire('board', { waitMs: 20 }), expected);
    await lock.release();
  });

  it('stops waiting when cancelled, in line and at the disk, and leaves the lock to others', async () => {
    const other = await board.open();
    const held = await store.locks.acquire('board');
    const inLine = new AbortController();
    const atDisk = new AbortController();
    const waiting = [
      store.locks.acquire('board', { signal: inLine.signal }),
      other.locks.acquire('board', { signal: atDisk.signal }),
    ];
    inLine.abort('user');
    atDisk.abort('user');
    for (const wait of waiting) await assert.rejects(wait, { code: 'cancelled' });
    await held.release();
    await other.locks.withLock('board', async () => undefined, { waitMs: 1_000 });
    await assert.rejects(store.locks.acquire('x', { signal: inLine.signal }), { code: 'cancelled' });
  });

  it('of a process that is gone is taken over at once', async () => {
    await put('board.lock', lockContent({}));
    await store.locks.withLock('board', async () => undefined, { waitMs: 0 });
    assert.deepEqual(await readdir(board.path('locks')), []);
  });

  it('of a process whose number was given to another one is taken over at once', async () => {
    await put('board.lock', lockContent({ pid: process.pid, processStart: 'another start' }));
    await store.locks.withLock('board', async () => undefined, { waitMs: 0 });
  });

  it('of a live process is not taken over, however old', async () => {
    const state = await systemProcessTable().look(process.pid);
    assert.equal(state.kind, 'running');
    const processStart = state.kind === 'running' ? state.start : undefined;
    assert.ok(processStart !== undefined);
    await put('board.lock', lockContent({ pid: process.pid, processStart, at: '2001-01-01T00:00:00.000Z' }));
    await assert.rejects(store.locks.acquire('board', { waitMs: 20 }), { code: 'lockTimeout' });
  });

  it('of another host is taken over when its heartbeat is older than 30 s', async () => {
    const clock = new HandClock('2026-03-04T05:06:37.089Z');
    const late = await board.open({ clock });
    await put('board.lock', lockContent({ host: 'elsewhere', at: '2026-03-04T05:00:00.000Z' }));
    await mkdir(board.path('owners'), { recursive: true });
    const beat = {
      v: 1,
      bootId: 'other',
      pid: 7,
      host: 'elsewhere',
      startedAt: '2026-03-04T05:00:00.000Z',
      beatAt: '2026-03-04T05:06:07.089Z',
    };
    await writeFile(board.path('owners', 'other.json'), JSON.stringify(beat));
    await assert.rejects(late.locks.acquire('board', { waitMs: 0 }), {
      code: 'lockTimeout',
      message: /elsewhere/,
    });
    clock.move(1);
    await (await board.open({ clock })).locks.withLock('board', async () => undefined, { waitMs: 0 });
  });

  it('is taken over also when its taker died with the claim', async () => {
    await put('board.lock', lockContent({}));
    await put('board.lock.abcdef.claim', lockContent({ nonce: 'fedcba' }));
    await store.locks.withLock('board', async () => undefined, { waitMs: 0 });
    assert.deepEqual(await readdir(board.path('locks')), []);
  });

  it('is not taken over while a live process holds the claim on it', async () => {
    const { bootId, pid, host } = await store.owners.self();
    await put('board.lock', lockContent({}));
    await put('board.lock.abcdef.claim', lockContent({ bootId, pid, host, nonce: 'fedcba' }));
    await assert.rejects(store.locks.acquire('board', { waitMs: 20 }), { code: 'lockTimeout' });
  });

  it('that nobody can read counts as held until it is 30 s old', async () => {
    await put('board.lock', '');
    await assert.rejects(store.locks.acquire('board', { waitMs: 20 }), { code: 'lockTimeout' });
    const old = new Date(Date.now() - 31_000);
    await utimes(board.path('locks', 'board.lock'), old, old);
    await store.locks.withLock('board', async () => undefined, { waitMs: 0 });
  });

  it('that another process took over meanwhile is not removed by the release of the one before', async () => {
    const lock = await store.locks.acquire('board');
    await put('board.lock', lockContent({}));
    await lock.release();
    assert.deepEqual(await readdir(board.path('locks')), ['board.lock']);
  });

  it('of a newer version is left alone', async () => {
    await put('board.lock', JSON.stringify({ v: 2, who: 'knows' }));
    await assert.rejects(store.locks.acquire('board'), { code: 'newerStore' });
  });

  it('that a dead owner left is not removed once somebody else has taken it', async () => {
    // The second taker is parked between seeing the dead lock and claiming it, while the first takes over.
    await put('board.lock', lockContent({}));
    let first: HeldLock | undefined;
    const ops: FileOps = {
      ...systemFileOps,
      link: async (from, to) => {
        if (to.endsWith('.claim') && first === undefined) first = await store.locks.acquire('board');
        await systemFileOps.link(from, to);
      },
    };
    const parked = await board.open({ machine: { ops } });
    await assert.rejects(parked.locks.acquire('board', { waitMs: 0 }), { code: 'lockTimeout' });
    assert.ok(first !== undefined);
    await first.release();
  });

  it('works where the file system has no hard links', async () => {
    const refusal = Object.assign(new Error('EPERM'), { code: 'EPERM' });
    const ops: FileOps = { ...systemFileOps, link: () => Promise.reject(refusal) };
    const plain = await board.open({ machine: { ops } });
    await put('board.lock', lockContent({}));
    let inside = 0;
    await Promise.all(
      Array.from({ length: 5 }, async (_, index) => {
        const chosen = index % 2 === 0 ? plain : store;
        await chosen.locks.withLock('board', async () => {
          inside += 1;
          assert.equal(inside, 1);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
        });
      }),
    );
  });

  it('says that the disk is full, and leaves nothing', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    await store.owners.self();
    const ops: FileOps = {
      ...systemFileOps,
      link: (from, to) => (to.endsWith('.lock') ? Promise.reject(full) : systemFileOps.link(from, to)),
    };
    const poor = await board.open({ machine: { ops } });
    await assert.rejects(poor.locks.acquire('board'), { code: 'diskFull' });
    assert.deepEqual(await readdir(board.path('locks')), []);
  });

  it('has a file name of its own for every name', () => {
    const names = ['a', 'A', 'a.b', 'a%2eb', 'ä', 'a/b', '../x', 'x'.repeat(300), `${'x'.repeat(300)}y`, ''];
    const encoded = names.map(encodeLockName);
    assert.equal(new Set(encoded.map((name) => name.toLowerCase())).size, names.length);
    for (const name of encoded) assert.match(name, /^[a-z0-9%~-]{0,93}$/);
  });
});

describe('A lock between processes', () => {
  let board: Board;
  let children: ChildProcesses;
  before(async () => {
    children = await ChildProcesses.of('lockWorker');
  });
  after(() => children.remove());
  beforeEach(async () => {
    board = await Board.create();
    await mkdir(board.commonDir, { recursive: true });
    await writeFile(`${board.commonDir}/counter`, '0');
  });
  afterEach(() => board.remove());

  const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
  const deaths = ['holding', 'beforeRemoval', 'holding', 'afterRemoval', 'claiming', 'holding'] as const;

  it('never has two holders while processes are killed in every step of it', async () => {
    const rounds = isLong ? 1_000 : 40;
    const start = (death: string, count: number): Child =>
      children.start({ commonDir: board.commonDir, rounds: count, death });
    const workers = Array.from({ length: isLong ? 6 : 3 }, () => start('never', rounds));
    await Promise.all(workers.map((worker) => worker.says('ready')));
    const victims: Child[] = [];
    for (const death of isLong ? Array.from({ length: 15 }, () => deaths).flat() : deaths) {
      const victim = start(death, death === 'claiming' ? 3 : 1);
      victims.push(victim);
      if (death === 'holding') {
        await victim.says('holding');
        await victim.kill();
      }
    }
    for (const child of [...workers, ...victims]) {
      const { code, signal, errors } = await child.ended;
      assert.equal(errors, '');
      assert.ok(
        code === 0 || (victims.includes(child) && signal === 'SIGKILL'),
        `ended with ${code} ${signal}`,
      );
    }
    const written = [...workers, ...victims].flatMap((child) =>
      child.lines.filter((line) => line.startsWith('wrote ')).map((line) => Number(line.slice(6))),
    );
    assert.equal(new Set(written).size, written.length, 'a number was written twice');
    assert.equal(Number(await readFile(`${board.commonDir}/counter`, 'utf8')), Math.max(...written));
    assert.equal(written.length, Math.max(...written), 'an addition was lost');
    assert.ok(written.length >= workers.length * rounds);
    await (await board.open()).locks.withLock('counter', async () => undefined, { waitMs: 1_000 });
  });
});
