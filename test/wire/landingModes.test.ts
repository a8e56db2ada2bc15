import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandingMode } from '../../src/model/landing';
import type { Task } from '../../src/model/task';
import type { AcceptOutcome } from '../../src/tasks/taskApi';
import { cleanUp, fingerprint, gitAt } from '../git/support/tempRepo';
import { type LandingSite, longText, makeLandingSite, userSideOf } from './support/landingSite';

/** Changes the first line of one file, adds one, deletes one. */
const change = "sed -i '1s/.*/first, changed/' a.txt && echo new > new.txt && rm gone.txt";
const asAgent = 'git -c user.name=Agent -c user.email=agent@example.invalid commit -q';
const changed = longText.replace('line 1\n', 'first, changed\n');

type Branching = Exclude<LandingMode, 'apply' | 'keepBranch'>;

describe('a Landing that makes commits', () => {
  let site: LandingSite;

  beforeEach(async () => {
    site = await makeLandingSite();
  });
  afterEach(async () => {
    await site.dispose();
    await cleanUp();
  });

  const git = async (...args: string[]): Promise<string> => (await site.repo.git(...args)).trim();
  const accept = (task: Task, mode: LandingMode, more = {}): Promise<AcceptOutcome> =>
    site.core.tasks.accept(task.id, { mode, ...more });
  const landed = async (task: Task, mode: Branching): Promise<Extract<AcceptOutcome, { kind: 'landed' }>> => {
    const outcome = await accept(task, mode);
    assert.ok(outcome.kind === 'landed', JSON.stringify(outcome));
    return outcome;
  };
  const userSide = (): Promise<Record<string, unknown>> => userSideOf(site);

  for (const mode of ['commit', 'merge', 'rebase'] as const) {
    it(`${mode}: a clean checkout is clean afterwards, the branch holds the change, and undo brings all back byte for byte`, async () => {
      const task = await site.task(change);
      const before = await userSide();
      const head = await git('rev-parse', 'HEAD');
      const plan = await site.core.tasks.preview(task.id, { mode });
      assert.deepEqual(await userSide(), before, 'a preview writes nothing');
      assert.equal(plan.branch?.ref, 'refs/heads/main');
      const outcome = await landed(task, mode);
      assert.equal(outcome.task.state, 'accepted');
      assert.equal(outcome.ref, 'refs/heads/main');
      // From before it is journalled: whatever gc runs while a Landing is cut off finds them in use.
      const holders = await git('for-each-ref', '--contains', outcome.commit ?? '', 'refs/tributary');
      assert.match(holders, /refs\/tributary\/left\//);
      assert.equal(await git('rev-parse', 'refs/heads/main'), outcome.commit);
      assert.equal(await git('symbolic-ref', 'HEAD'), 'refs/heads/main');
      // Without a look by git in between, which would mend it: `git reset --keep`, say, goes by the stamps.
      assert.equal(await git('diff-files', '--name-only'), '');
      assert.equal(await git('status', '--porcelain'), '');
      assert.equal(await site.repo.read('a.txt'), changed);
      assert.equal(await git('rev-parse', 'HEAD^1'), head);
      assert.equal(
        await git('log', '-1', '--format=%an <%ae> %s'),
        'Ada Tester <ada@example.invalid> Say good day',
      );
      const undone = await site.core.tasks.undo(task.id);
      assert.equal(undone.kind, 'undone', JSON.stringify(undone));
      assert.deepEqual(await userSide(), before);
      assert.equal(undone.task.state, 'open');
    });
  }

  it('merge: uncommitted and staged edits survive in place, outside the commit', async () => {
    await site.repo.write('b.txt', 'two, staged\n');
    await site.repo.git('add', 'b.txt');
    await site.repo.write('b.txt', 'two, staged\nand dirty\n');
    await site.repo.write('a.txt', longText.replace('line 12', 'line 12, dirty'));
    await site.repo.write('mine.txt', 'untracked\n');
    const task = await site.task(change);
    const before = await userSide();
    const outcome = await landed(task, 'merge');
    assert.equal(await git('show', `${outcome.commit}:a.txt`), changed.trim());
    assert.equal(await git('show', `${outcome.commit}:b.txt`), 'two');
    assert.equal(await site.repo.read('a.txt'), changed.replace('line 12', 'line 12, dirty'));
    assert.equal(await git('show', ':b.txt'), 'two, staged');
    assert.equal(await git('show', ':a.txt'), changed.trim());
    assert.deepEqual((await git('status', '--porcelain')).split('\n'), [
      'M a.txt',
      'MM b.txt',
      '?? mine.txt',
    ]);
    assert.equal((await site.core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await userSide(), before);
  });

  it('commit: on a detached HEAD it goes on top of it, and no branch moves', async () => {
    const task = await site.task(change);
    await site.repo.git('checkout', '-q', '--detach');
    const before = await userSide();
    const outcome = await landed(task, 'commit');
    assert.equal(outcome.ref, undefined);
    assert.equal(await git('rev-parse', 'HEAD'), outcome.commit);
    assert.deepEqual((await userSide())['refs'], before['refs']);
    assert.equal(await git('status', '--porcelain'), '');
    assert.equal((await site.core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await userSide(), before);
  });

  it('commit: staged edits to a landed path are merged three-way in the index, and stay staged', async () => {
    await site.repo.write('a.txt', longText.replace('line 12', 'line 12, staged'));
    await site.repo.git('add', 'a.txt');
    const task = await site.task(change);
    await landed(task, 'commit');
    assert.equal(await git('show', 'HEAD:a.txt'), changed.trim());
    assert.equal(await git('show', ':a.txt'), changed.replace('line 12', 'line 12, staged').trim());
    assert.equal((await git('status', '--porcelain')).trim(), 'M  a.txt');
  });

  it('commit: staged edits that meet the change are a conflict, and nothing is written', async () => {
    await site.repo.write('a.txt', longText.replace('line 1\n', 'line 1, staged\n'));
    await site.repo.git('add', 'a.txt');
    await site.repo.write('a.txt', longText);
    const task = await site.task(change);
    const before = await userSide();
    const outcome = await accept(task, 'commit');
    assert.ok(outcome.kind === 'conflict');
    assert.deepEqual(
      outcome.conflicts.map(({ path, kind }) => ({ path, kind })),
      [{ path: 'a.txt', kind: 'staged' }],
    );
    assert.deepEqual(await userSide(), before);
  });

  it('commit: HEAD moved on since the base, and both changes are in the commit', async () => {
    const task = await site.task(change);
    await site.repo.write('a.txt', longText.replace('line 12', 'line 12, theirs'));
    await site.repo.commitAll('meanwhile');
    await landed(task, 'commit');
    assert.equal(await site.repo.read('a.txt'), changed.replace('line 12', 'line 12, theirs'));
    assert.equal(await git('status', '--porcelain'), '');
  });

  it('merge: the second parent holds the tree of the Task, on top of the commits of its agent', async () => {
    const task = await site.task(
      `echo one > one.txt && git add -A && ${asAgent} -m 'of the agent' && ${change}`,
    );
    await site.repo.write('b.txt', 'moved on\n');
    await site.repo.commitAll('meanwhile');
    const outcome = await landed(task, 'merge');
    assert.equal(await git('rev-parse', `${outcome.commit}^2^{tree}`), task.snapshot?.tree);
    assert.equal(await git('log', '-1', '--format=%an %s', `${outcome.commit}^2^`), 'Agent of the agent');
    assert.equal(await git('log', '-1', '--format=%s', `${outcome.commit}^1`), 'meanwhile');
    assert.equal(await git('status', '--porcelain'), '');
  });

  it('rebase: the commits of the agent stand on HEAD with their authors, messages and dates, what is left as one last commit', async () => {
    const dated = "GIT_AUTHOR_DATE='2001-02-03T04:05:06 +0200'";
    const task = await site.task(
      `echo one > one.txt && git add -A && ${dated} ${asAgent} -m 'of the agent' -m 'with a body' && ${change}`,
    );
    await site.repo.write('b.txt', 'moved on\n');
    const head = await site.repo.commitAll('meanwhile');
    const outcome = await landed(task, 'rebase');
    assert.equal(await git('rev-parse', `${outcome.commit}~2`), head);
    assert.equal(
      await git('log', '-1', '--format=%an|%aI|%B|%cn', `${outcome.commit}~1`),
      'Agent|2001-02-03T04:05:06+02:00|of the agent\n\nwith a body\n|Ada Tester',
    );
    assert.equal(await git('log', '-1', '--format=%an|%s'), 'Ada Tester|Say good day');
    assert.equal(await git('status', '--porcelain'), '');
  });

  for (const mode of ['merge', 'rebase'] as const) {
    it(`${mode}: what the user had uncommitted when the Task began stays uncommitted`, async () => {
      await site.repo.write('b.txt', 'two\nuncommitted\n');
      await site.repo.write('mine.txt', 'untracked\n');
      const head = await git('rev-parse', 'HEAD');
      const task = await site.task(`${change} && git add -A && ${asAgent} -m own`, { withUncommitted: true });
      const outcome = await landed(task, mode);
      assert.equal(await git('show', `${outcome.commit}:b.txt`), 'two');
      assert.deepEqual((await git('status', '--porcelain')).split('\n'), ['M b.txt', '?? mine.txt']);
      const ours = await git('log', '--format=%an', `${head}..${outcome.commit}`);
      assert.ok(!ours.includes('Tributary'), ours);
    });
  }

  it('keepBranch: nothing of the checkout is written, the branch holds the change, the Worktree goes; restore brings it back', async () => {
    await site.repo.write('b.txt', 'dirty\n');
    const task = await site.task(`echo one > one.txt && git add -A && ${asAgent} -m own && ${change}`);
    const before = await userSide();
    const outcome = await accept(task, 'keepBranch', { message: 'Kept for later' });
    assert.ok(outcome.kind === 'kept', JSON.stringify(outcome));
    assert.deepEqual(await userSide(), before);
    assert.equal(outcome.task.state, 'closed');
    assert.equal(outcome.task.keptBranch, outcome.commit);
    assert.equal(await git('rev-parse', outcome.ref), outcome.commit);
    assert.equal(await git('rev-parse', `${outcome.ref}^{tree}`), task.snapshot?.tree);
    assert.equal(
      await git('log', '--format=%an %s', `HEAD..${outcome.ref}`),
      'Ada Tester Kept for later\nAgent own',
    );
    assert.equal((await git('worktree', 'list')).split('\n').length, 1);
    const restored = await site.core.tasks.restore(task.id);
    assert.equal(restored.state, 'open');
    assert.equal(restored.keptBranch, undefined);
    const worktree = restored.worktreePath ?? '';
    assert.equal((await gitAt(worktree, 'rev-parse', 'HEAD')).toString().trim(), outcome.commit);
    assert.equal((await gitAt(worktree, 'status', '--porcelain')).toString(), '');
    assert.equal((await accept(restored, 'apply')).kind, 'landed');
  });

  it('keepBranch: a branch whose agent committed everything is left as it is', async () => {
    const task = await site.task(`${change} && git add -A && ${asAgent} -m own`);
    const outcome = await accept(task, 'keepBranch');
    assert.ok(outcome.kind === 'kept');
    assert.equal(await git('log', '-1', '--format=%an %s', outcome.ref), 'Agent own');
  });

  it('is stale when HEAD moved between preview and acceptance, or another branch was checked out', async () => {
    const task = await site.task(change);
    const expected = await site.core.tasks.preview(task.id, { mode: 'commit' });
    await site.repo.git('switch', '-q', '-c', 'other');
    const other = await accept(task, 'commit', { expected });
    assert.ok(other.kind === 'stale' && other.isHeadMoved === true, JSON.stringify(other));
    await site.repo.git('switch', '-q', 'main');
    await site.repo.git('commit', '-q', '--allow-empty', '-m', 'moved');
    const moved = await accept(task, 'commit', { expected });
    assert.ok(moved.kind === 'stale' && moved.isHeadMoved === true);
    assert.equal(await git('status', '--porcelain'), '');
  });

  it('is refused while a merge of the user is under way', async () => {
    const task = await site.task(change);
    await writeFile(join(site.repo.root, '.git', 'MERGE_HEAD'), `${await git('rev-parse', 'HEAD')}\n`);
    await assert.rejects(accept(task, 'commit'), { code: 'wrongState' });
  });

  it('undo names git revert when commits came on top, and writes nothing', async () => {
    const task = await site.task(change);
    const { commit } = await landed(task, 'commit');
    await site.repo.write('b.txt', 'later\n');
    await site.repo.commitAll('later');
    const before = await userSide();
    const outcome = await site.core.tasks.undo(task.id);
    assert.ok(outcome.kind === 'movedOn');
    assert.deepEqual([outcome.commit, outcome.why], [commit, 'onTop']);
    assert.deepEqual(await userSide(), before);
    assert.equal((await site.core.tasks.find(task.id)).task.state, 'accepted');
  });

  for (const mode of ['commit', 'merge', 'rebase'] as const)
    it(`${mode}: undo names a git revert that works, and once that is done it opens the Task and writes nothing`, async () => {
      const task = await site.task(`${change} && git add -A && ${asAgent} -m own && echo more > more.txt`);
      const before = await site.repo.read('a.txt');
      await landed(task, mode);
      await site.repo.write('b.txt', 'later\n');
      await site.repo.commitAll('later');
      const outcome = await site.core.tasks.undo(task.id);
      assert.ok(outcome.kind === 'movedOn');
      await git('revert', '--no-edit', ...outcome.revert);
      assert.equal(await site.repo.read('a.txt'), before);
      const reverted = await userSide();
      const again = await site.core.tasks.undo(task.id);
      assert.ok(again.kind === 'undone');
      assert.deepEqual([again.paths, again.task.state], [[], 'open']);
      assert.deepEqual(await userSide(), reverted);
      assert.equal((await accept(again.task, 'apply')).kind, 'landed');
    });

  it('undo opens a Task whose commit was reverted also where its files were edited since; a look before tells the same', async () => {
    const task = await site.task(change);
    await landed(task, 'commit');
    await site.repo.write('a.txt', changed.replace('line 12\n', 'line twelve\n'));
    await site.repo.commitAll('later, in the same file');
    const { left } = await site.core.tasks.previewUndo(task.id);
    const outcome = await site.core.tasks.undo(task.id);
    assert.ok(outcome.kind === 'movedOn');
    const { kind: _kind, task: _task, ...movedOn } = outcome;
    assert.deepEqual(left, movedOn);
    await git('revert', '--no-edit', ...outcome.revert);
    assert.equal((await site.core.tasks.previewUndo(task.id)).left, 'takenBack');
    const reverted = await userSide();
    const again = await site.core.tasks.undo(task.id);
    assert.ok(again.kind === 'undone');
    assert.deepEqual([again.paths, again.task.state], [[], 'open']);
    assert.deepEqual(await userSide(), reverted);
  });

  it('undo of what another worktree has the branch of brings the files back and opens the Task', async () => {
    const task = await site.task(change);
    await landed(task, 'commit');
    const branch = (task.branch ?? '').slice('refs/heads/'.length);
    await git('worktree', 'add', '-q', '-b', branch, join(site.repo.folder, 'elsewhere'));
    const undone = await site.core.tasks.undo(task.id);
    assert.ok(undone.kind === 'undone');
    assert.equal((await site.core.tasks.find(task.id)).task.state, 'open');
    assert.equal(await git('status', '--porcelain'), '');
  });

  it('undo opens a Task whose commits were left by a reset, and not one whose commit was amended', async () => {
    const left = await site.task(change);
    await landed(left, 'commit');
    await site.repo.git('reset', '-q', '--hard', 'HEAD^');
    const before = await userSide();
    const undone = await site.core.tasks.undo(left.id);
    assert.ok(undone.kind === 'undone');
    assert.equal(undone.task.state, 'open');
    assert.deepEqual(await userSide(), before);
    await landed(undone.task, 'commit');
    await site.repo.git('commit', '-q', '--amend', '-m', 'amended');
    const amended = await site.core.tasks.undo(left.id);
    assert.ok(amended.kind === 'movedOn');
    assert.deepEqual([amended.why, amended.task.state], ['gone', 'accepted']);
  });

  it('undo keeps what was staged since on other paths, and the rest of the index is as before', async () => {
    const task = await site.task(change);
    await landed(task, 'commit');
    await site.repo.write('b.txt', 'staged since\n');
    await site.repo.git('add', 'b.txt');
    assert.equal((await site.core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual((await git('status', '--porcelain')).trim(), 'M  b.txt');
  });

  it('undo after a look by git, which refreshes the index, still gives its bytes back', async () => {
    const task = await site.task(change);
    const before = await userSide();
    await landed(task, 'commit');
    await site.repo.git('update-index', '-q', '--refresh');
    assert.equal((await site.core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await userSide(), before);
  });

  describe('and hooks of the user', () => {
    const all = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'];

    it('run once for each commit of theirs, and never for ours', async () => {
      for (const name of [...all, 'post-checkout', 'reference-transaction', 'post-index-change'])
        await site.hook(name);
      const task = await site.task(change, { checks: ['true'] });
      assert.deepEqual(await site.hooksRun(), []);
      await landed(task, 'commit');
      assert.deepEqual(await site.hooksRun(), all);
      await site.core.tasks.undo(task.id);
      assert.deepEqual(await site.hooksRun(), all);
      await landed((await site.core.tasks.find(task.id)).task, 'merge');
      assert.deepEqual(await site.hooksRun(), [...all, ...all]);
    });

    it('see the commit that is being made in their index, and may change it and its message', async () => {
      await site.hook(
        'pre-commit',
        'git diff --cached --name-only > ../seen && echo formatted > new.txt.tmp && B=$(git hash-object -w new.txt.tmp) && rm new.txt.tmp && git update-index --cacheinfo 100644,$B,new.txt',
      );
      await site.hook('commit-msg', 'echo "Signed-off-by: me" >> "$1"');
      const task = await site.task(change);
      await landed(task, 'commit');
      assert.equal(await readFile(join(site.repo.folder, 'seen'), 'utf8'), 'a.txt\ngone.txt\nnew.txt\n');
      assert.equal(await git('show', 'HEAD:new.txt'), 'formatted');
      assert.equal(await site.repo.read('new.txt'), 'formatted\n');
      assert.equal(await git('log', '-1', '--format=%B'), 'Say good day\nSigned-off-by: me');
      assert.equal(await git('status', '--porcelain'), '');
    });

    for (const name of ['pre-commit', 'commit-msg']) {
      it(`a failing ${name} lands nothing, and its words are the outcome's`, async () => {
        await site.hook(name, 'echo "not like this"; exit 7');
        const task = await site.task(change);
        const before = await userSide();
        const outcome = await accept(task, 'commit');
        assert.ok(outcome.kind === 'hookFailed', JSON.stringify(outcome));
        assert.deepEqual([outcome.hook, outcome.exitCode], [name, 7]);
        assert.match(outcome.output, /not like this/);
        assert.deepEqual(await userSide(), before);
        assert.equal((await site.core.tasks.find(task.id)).task.state, 'open');
      });
    }

    it('a pre-commit that adds files of the working tree again, where the change is not yet, lands nothing', async () => {
      await site.hook('pre-commit', 'git diff --cached --name-only --diff-filter=M | xargs git add');
      const task = await site.task(change);
      const before = await userSide();
      const outcome = await accept(task, 'commit');
      assert.ok(outcome.kind === 'hookFailed', JSON.stringify(outcome));
      assert.match(outcome.output, /in place of the change:\na\.txt$/);
      assert.deepEqual(await userSide(), before);
    });

    it('that hang are ended by a stop, and nothing is written', async () => {
      const task = await site.task(change);
      const before = await userSide();
      await site.hook('pre-commit', 'sleep 300');
      const stop = new AbortController();
      const hooks = watch(site.repo.folder, () => stop.abort());
      await assert.rejects(accept(task, 'commit', { signal: stop.signal }), { code: 'cancelled' });
      hooks.close();
      assert.deepEqual(await userSide(), before);
      assert.equal((await site.core.tasks.find(task.id)).task.state, 'open');
    });

    it('a failing post-commit changes nothing: the commit stands', async () => {
      await site.hook('post-commit', 'exit 1');
      await landed(await site.task(change), 'commit');
      assert.equal(await git('status', '--porcelain'), '');
    });

    it('a hook that moves HEAD itself makes the Landing stale, and no half of it stays', async () => {
      await site.hook(
        'pre-commit',
        'env -u GIT_INDEX_FILE git -c core.hooksPath=/dev/null commit -q --allow-empty -m sly',
      );
      const task = await site.task(change);
      const outcome = await accept(task, 'commit');
      assert.ok(outcome.kind === 'stale' && outcome.isHeadMoved === true, JSON.stringify(outcome));
      assert.equal(await site.repo.read('a.txt'), longText);
    });
  });

  it('signs as the configuration says, with the program it names', async () => {
    const program = join(site.repo.folder, 'gpg');
    await writeFile(
      program,
      "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\nfake\\n-----END PGP SIGNATURE-----\\n'\n",
    );
    await chmod(program, 0o755);
    await site.repo.git('config', 'commit.gpgSign', 'true');
    await site.repo.git('config', 'gpg.program', program);
    const task = await site.task(change);
    const { commit = '' } = await landed(task, 'merge');
    assert.match(await git('cat-file', 'commit', commit), /^gpgsig -----BEGIN PGP SIGNATURE-----$/m);
    assert.match(await git('cat-file', 'commit', `${commit}^2`), /^gpgsig /m);
    assert.doesNotMatch(await git('cat-file', 'commit', task.snapshot?.commit ?? ''), /^gpgsig /m);
    await writeFile(program, '#!/bin/sh\nexit 1\n');
    const second = await site.task('echo again > again.txt');
    const before = await userSide();
    await assert.rejects(accept(second, 'commit'), { code: 'signingFailed' });
    assert.deepEqual(await userSide(), before);
  });
});

describe('a Landing for somebody whom git does not know', () => {
  it('is refused before anything is written, where it would make a commit', async () => {
    const names = [
      'GIT_AUTHOR_NAME',
      'GIT_AUTHOR_EMAIL',
      'GIT_COMMITTER_NAME',
      'GIT_COMMITTER_EMAIL',
      'EMAIL',
    ];
    const site = await makeLandingSite(Object.fromEntries(names.map((name) => [name, undefined])));
    try {
      const task = await site.task(change);
      const before = await fingerprint(site.repo.root);
      for (const mode of ['commit', 'merge', 'rebase', 'keepBranch'] as const)
        await assert.rejects(site.core.tasks.accept(task.id, { mode }), { code: 'noIdentity' });
      assert.deepEqual(await fingerprint(site.repo.root), before);
      assert.equal((await site.core.tasks.accept(task.id, { mode: 'apply' })).kind, 'landed');
    } finally {
      await site.dispose();
      await cleanUp();
    }
  });
});
