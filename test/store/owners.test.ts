import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FileOps, systemFileOps } from '../../src/base/atomicFile';
import {
  lookInProc,
  lookWithPs,
  type ProcessState,
  type ProcessTable,
} from '../../src/store/processIdentity';
import type { Store } from '../../src/store/store';
import { Board, HandClock, HandTicker, LoggedLines } from './boards';

const noSuchPid = 2 ** 30;

describe('The owners of Runs', () => {
  let board: Board;
  let store: Store;
  let clock: HandClock;
  let hand: HandTicker;
  beforeEach(async () => {
    clock = new HandClock();
    hand = new HandTicker();
    board = await Board.create();
    store = await board.open({ clock, machine: { every: hand.every, bootId: 'mine' } });
  });
  afterEach(() => board.remove());

  async function put(bootId: string, over: Record<string, unknown>): Promise<void> {
    await mkdir(board.path('owners'), { recursive: true });
    const at = clock.now().toISOString();
    const file = { v: 1, bootId, pid: noSuchPid, host: hostname(), startedAt: at, beatAt: at, ...over };
    await writeFile(board.path('owners', `${bootId}.json`), JSON.stringify(file));
  }

  const beat = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(board.path('owners', 'mine.json'), 'utf8'));

  it('have a file from the first use on, with a heartbeat each 5 s, and none after dispose', async () => {
    await assert.rejects(readdir(board.path('owners')), { code: 'ENOENT' });
    assert.equal(hand.count(5_000), 0);
    const self = await store.owners.self();
    assert.deepEqual(self, { bootId: 'mine', pid: process.pid, host: self.host });
    const { v, pid, startedAt, beatAt } = await beat();
    assert.deepEqual({ v, pid }, { v: 1, pid: process.pid });
    assert.equal(beatAt, startedAt);
    clock.move(5_000);
    hand.tick(5_000);
    await store.owners.dispose();
    assert.deepEqual(await readdir(board.path('owners')), []);
    assert.equal(hand.count(5_000), 0);
    assert.equal(await store.owners.isAlive(self), false);
    await assert.rejects(store.owners.self(), { code: 'wrongState' });
  });

  it('that ended without taking their leave are listed, those of other hosts and the living are not', async () => {
    assert.deepEqual(await store.owners.dead(), []);
    const { host } = await store.owners.self();
    await put('killed', { host });
    await put('elsewhere', { host: 'another-host' });
    await put('living', { host, pid: process.pid });
    assert.deepEqual(await store.owners.dead(), ['killed']);
    await store.owners.dispose();
    assert.deepEqual(await store.owners.dead(), ['killed']);
  });

  it('renew their heartbeat', async () => {
    let renamed = (): void => undefined;
    const ops: FileOps = {
      ...systemFileOps,
      rename: async (from, to) => {
        await systemFileOps.rename(from, to);
        renamed();
      },
    };
    const beating = await board.open({ clock, machine: { every: hand.every, ops, bootId: 'mine' } });
    await beating.owners.self();
    const before = await beat();
    clock.move(5_000);
    const done = new Promise<void>((resolve) => {
      renamed = resolve;
    });
    hand.tick(5_000);
    await done;
    assert.equal(before['beatAt'], '2026-03-04T05:06:07.089Z');
    assert.equal((await beat())['beatAt'], '2026-03-04T05:06:12.089Z');
    assert.equal((await beat())['startedAt'], before['startedAt']);
  });

  it('are alive while their process is, however old their heartbeat', async () => {
    const self = await store.owners.self();
    const other = await board.open({ clock });
    clock.move(3_600_000);
    assert.equal(await other.owners.isAlive(self), true);
    await store.dispose();
    assert.equal(await other.owners.isAlive(self), false);
  });

  it('are dead at once when their process is gone, or its number is another process now', async () => {
    await put('gone', {});
    assert.equal(await store.owners.isAlive({ bootId: 'gone', pid: noSuchPid, host: hostname() }), false);
    await put('reused', { pid: process.pid, processStart: 'before' });
    const { host } = await store.owners.self();
    assert.equal(await store.owners.isAlive({ bootId: 'reused', pid: process.pid, host }), false);
    assert.equal(await store.owners.isAlive({ bootId: 'never seen', pid: process.pid, host }), false);
  });

  it('on another host are dead when their heartbeat is older than 30 s', async () => {
    await put('far', { host: 'elsewhere' });
    const far = { bootId: 'far', pid: 1, host: 'elsewhere' };
    clock.move(30_000);
    assert.equal(await store.owners.isAlive(far), true);
    clock.move(1);
    assert.equal(await store.owners.isAlive(far), false);
  });

  it('are judged by their heartbeat where the system does not tell when a process began', async () => {
    const processes: ProcessTable = {
      host: async () => 'h',
      look: async (): Promise<ProcessState> => ({ kind: 'running' }),
    };
    const blind = await board.open({ clock, machine: { processes } });
    await put('other', { host: 'h', pid: 7 });
    const other = { bootId: 'other', pid: 7, host: 'h' };
    assert.equal(await blind.owners.isAlive(other), true);
    clock.move(30_001);
    assert.equal(await blind.owners.isAlive(other), false);
  });

  it('with a damaged file are judged by their process alone', async () => {
    await mkdir(board.path('owners'), { recursive: true });
    await writeFile(board.path('owners', 'bad.json'), '{');
    const { host } = await store.owners.self();
    assert.equal(await store.owners.isAlive({ bootId: 'bad', pid: process.pid, host }), true);
    assert.equal(await store.owners.isAlive({ bootId: 'bad', pid: noSuchPid, host }), false);
  });

  it('that have been dead for more than a day are cleared away at the first use', async () => {
    const day = 24 * 60 * 60 * 1_000;
    const old = new Date(clock.now().getTime() - day - 1).toISOString();
    await put('old', { beatAt: old });
    await put('young', {});
    const start = { kind: 'running', start: 's' } as const;
    await put('alive', { beatAt: old, pid: 7, host: 'h', processStart: 's' });
    const processes: ProcessTable = { host: async () => 'h', look: async () => start };
    const tidy = await board.open({ clock, machine: { processes, bootId: 'tidy' } });
    await tidy.owners.self();
    await tidy.dispose();
    assert.deepEqual((await readdir(board.path('owners'))).sort(), ['alive.json', 'young.json']);
  });

  it('clear away what killed processes left among the locks', async () => {
    await mkdir(board.path('locks'), { recursive: true });
    const owner = { bootId: 'dead', pid: noSuchPid, host: hostname() };
    const lock = JSON.stringify({ v: 1, nonce: 'abc', at: clock.now().toISOString(), owner });
    const real = await board.open();
    for (const name of ['a.lock.123.claim', 'a.lock.1-2.tmp', 'fresh.lock.124.claim']) {
      await writeFile(board.path('locks', name), lock);
      const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1_000);
      if (!name.startsWith('fresh')) await utimes(board.path('locks', name), longAgo, longAgo);
    }
    await real.owners.self();
    await real.dispose();
    assert.deepEqual(await readdir(board.path('locks')), ['fresh.lock.124.claim']);
  });

  it('whose file cannot be written say so, and try again at the next use', async () => {
    let isFull = true;
    const ops: FileOps = {
      ...systemFileOps,
      rename: async (from, to) => {
        if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        await systemFileOps.rename(from, to);
      },
    };
    const logger = new LoggedLines();
    const poor = await board.open({ logger, machine: { ops, every: hand.every } });
    await assert.rejects(poor.owners.self(), { code: 'diskFull' });
    isFull = false;
    const self = await poor.owners.self();
    assert.ok((await stat(board.path('owners', `${self.bootId}.json`))).isFile());
    isFull = true;
    hand.tick(5_000);
    hand.tick(5_000);
    await poor.dispose();
    assert.ok(logger.lines.filter((line) => line.startsWith('warn the heartbeat')).length <= 1);
  });
});

describe('The process table', () => {
  for (const [name, look, platforms] of [
    ['/proc', lookInProc, ['linux']],
    ['ps', lookWithPs, ['linux', 'darwin']],
  ] as const) {
    if (!platforms.some((platform) => platform === process.platform)) continue;

    it(`tells by ${name} when a process began, the same each time`, async () => {
      const first = await look(process.pid);
      assert.ok(first.kind === 'running' && first.start !== undefined && first.start !== '');
      assert.deepEqual(await look(process.pid), first);
    });

    it(`tells by ${name} that a process is gone`, async () => {
      const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      await once(child, 'spawn');
      assert.equal((await look(child.pid ?? 0)).kind, 'running');
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.deepEqual(await look(child.pid ?? 0), { kind: 'gone' });
      assert.deepEqual(await look(noSuchPid), { kind: 'gone' });
    });

    it(`takes by ${name} a process that ended and was not collected for gone`, async () => {
      // The shell starts a child and becomes a program that never waits for it.
      const parent = spawn('sh', ['-c', 'true & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
      try {
        const [line]: unknown[] = await once(parent.stdout, 'data');
        while ((await look(Number(String(line)))).kind === 'running') assert.equal(parent.exitCode, null);
      } finally {
        parent.kill('SIGKILL');
        await once(parent, 'exit');
      }
    });
  }
});
