import assert from 'node:assert/strict';
import { platform } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { cliPath } from './support/cli';
import { byTurn, call, finalAnswer } from './support/job';
import { type Ended, makeTinyDisk, type TinyDisk } from './support/tinyDisk';

const kilobyte = 1024;

// Only Linux lets a test have a disk of its own without being root.
if (platform() === 'linux') {
  describe('a full disk', () => {
    let server: StrictServer;
    let disk: TinyDisk;
    let repo: string;

    beforeEach(async () => {
      server = await startStrictServer({ apiKey: 'test-key' });
      disk = await makeTinyDisk(32);
      repo = join(disk.root, 'repo');
      const make = [
        'git init --quiet -b main repo && cd repo',
        'git config user.name t && git config user.email t@example.invalid',
        'head -c 4000000 /dev/urandom > big.bin && echo one > small.txt',
        'git add -A && git commit --quiet -m first',
      ].join(' && ');
      assert.equal((await disk.run(['sh', '-c', make])).exitCode, 0);
    });

    afterEach(async () => {
      await disk.dispose();
      await server.close();
      await cleanUp();
    });

    const cli = (...args: string[]): Promise<Ended> =>
      disk.run([process.execPath, cliPath, ...args], {
        cwd: repo,
        env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: server.url },
      });
    const git = async (...args: string[]): Promise<string> =>
      (await disk.run(['git', ...args], { cwd: repo })).stdout;
    const job = (replies: readonly Reply[]): Promise<Ended> => {
      server.script(byTurn(replies));
      return cli('run', 'Say good day', '--no-verify', '--json');
    };

    it('while the worktree is made: 1, a plain message, no worktree, no branch, and the Task can be resumed', async () => {
      await disk.fill(1500 * kilobyte);
      const end = await job([{ content: [{ type: 'text', text: finalAnswer }] }]);
      assert.equal(end.exitCode, 1);
      assert.match(end.stdout, /"code":"diskFull"/);
      assert.equal(server.requests.length <= 1, true);
      assert.equal((await git('worktree', 'list')).trim().split('\n').length, 1);
      assert.equal((await git('branch', '--list', 'tributary/*')).trim(), '');
      assert.equal(
        (await disk.run(['sh', '-c', 'ls -A repo.worktrees 2>/dev/null | wc -l'])).stdout.trim(),
        '0',
      );
      await disk.empty();
      // In order, not by turn: the first request may have been answered before the disk was full.
      server.script([
        call('Write', { file_path: 'new.txt', content: 'new\n' }),
        { content: [{ type: 'text', text: finalAnswer }] },
      ]);
      const resumed = await cli('resume', 'say-good-day', '--json');
      assert.deepEqual(server.refusals, []);
      assert.match((await cli('list')).stdout, /say-good-day +open +completed/, resumed.stdout);
      assert.match(await git('worktree', 'list'), /say-good-day/);
    });

    it('while the agent works: the Run fails with a plain message, what it had is kept, and it can go on', async () => {
      const filling = Array.from({ length: 12 }, (_, index) =>
        call('Write', { file_path: `made-${index}.txt`, content: `${index} ${'x'.repeat(600 * kilobyte)}` }),
      );
      await disk.fill(9000 * kilobyte);
      const end = await job([...filling, { content: [{ type: 'text', text: finalAnswer }] }]);
      assert.equal(end.exitCode, 1, end.stdout.slice(-2000));
      assert.match(end.stdout, /"code":"diskFull"|"reason":"diskFull"/);
      assert.match((await cli('list')).stdout, /say-good-day +open +(failed|interrupted)/);
      assert.match(await git('worktree', 'list'), /say-good-day/);
      assert.equal(await git('status', '--porcelain'), '');
      await disk.run(['sh', '-c', 'rm -f repo.worktrees/say-good-day/made-*']);
      server.script(() => ({ content: [{ type: 'text', text: finalAnswer }] }));
      const resumed = await cli('resume', 'say-good-day', '--json');
      assert.match(resumed.stdout, /"type":"result"/);
      assert.deepEqual(server.refusals, []);
    });

    it('while a change is accepted: 1, and the checkout is as it was', async () => {
      const content = 'y'.repeat(1500 * kilobyte);
      const end = await job([
        call('Write', { file_path: 'wide.txt', content }),
        call('Write', { file_path: 'second.txt', content }),
        { content: [{ type: 'text', text: finalAnswer }] },
      ]);
      assert.equal(end.exitCode, 0, end.stderr);
      await disk.fill(900 * kilobyte);
      const accepted = await cli('accept', 'say-good-day');
      assert.equal(accepted.exitCode, 1, accepted.stdout);
      assert.match(accepted.stderr, /disk is full/i);
      assert.equal(await git('status', '--porcelain'), '');
      await disk.empty();
      const again = await cli('accept', 'say-good-day');
      assert.equal(again.exitCode, 0, again.stderr);
      assert.equal(await git('status', '--porcelain'), '?? second.txt\n?? wide.txt\n');
    });
  });
}
