import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Core } from '../../../src/composeCore';
import type { Task } from '../../../src/model/task';
import type { Reply, StrictServer } from '../../wire/support/strictServer';
import { differences, differing, type Listing } from '../states/witness';
import { copyOf, makeRepo, type TempRepo } from '../support/tempRepo';
import { agentScript, firstFiles } from './agent';
import { fits, standing } from './fitting';
import { byHand, letTimePass } from './hands';
import { Made } from './made';
import { type Came, modeOf, openCore, perform } from './perform';
import type { StepProcesses } from './processes';
import type { ProductStep, Step } from './steps';
import { actAsUser } from './user';
import { boardVerbs, type ProductVerb, runVerbs } from './verbs';
import { assertWhole } from './whole';
import { type UsersState, usersState, worktreeFiles } from './witness';

/** A Landing that stands, and what the user had before it. */
interface Landed {
  readonly taskId: string;
  readonly before: UsersState;
  /** Nothing was done in the checkout since. */
  isNewest: boolean;
}

export interface WalkParts {
  readonly server: StrictServer;
  readonly template: TempRepo;
  readonly processes: StepProcesses;
  /** Hears of each step of the product and what came of it. */
  readonly told: (line: string) => void;
}

const finalAnswer =
  'SUMMARY: Done.\n\nCHANGES:\nNone.\n\nEVIDENCE:\nNone.\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.';
const say = (text: string): Reply => ({ content: [{ type: 'text', text }] });
const bash = (command: string): Reply => ({
  content: [{ type: 'tool_use', name: 'Bash', input: { command } }],
});

/** The repository that every walk goes over a copy of. */
export async function makeTemplate(): Promise<TempRepo> {
  const repo = await makeRepo({ files: firstFiles });
  await repo.git('config', 'user.name', 'Ada Tester');
  await repo.git('config', 'user.email', 'ada@example.invalid');
  // Each copy would copy them.
  await rm(join(repo.root, '.git', 'hooks'), { recursive: true, force: true });
  return repo;
}

/** Walks a sequence of steps over a new repository; throws at the first byte that is lost or changed. */
export async function walk(steps: readonly Step[], parts: WalkParts): Promise<void> {
  const repo = await copyOf(parts.template);
  const core = await openCore(repo.root, parts.server.url);
  const world = new World(repo, core, parts);
  try {
    for (const [index, step] of steps.entries()) await world.take(step, `s${index}`);
    await world.end();
  } finally {
    await core.dispose();
    await repo.dispose();
  }
}

class World {
  private readonly repo: TempRepo;
  private readonly core: Core;
  private readonly parts: WalkParts;
  private tasks: readonly Task[] = [];
  private readonly made: Made;
  private readonly landed: Landed[] = [];
  /** The files of the Worktrees of Tasks that ended, as they were before. */
  private readonly ended = new Map<string, Listing>();

  constructor(repo: TempRepo, core: Core, parts: WalkParts) {
    this.repo = repo;
    this.core = core;
    this.parts = parts;
    this.made = new Made(repo);
  }

  async take(step: Step, name: string): Promise<void> {
    switch (step.by) {
      case 'user':
        await actAsUser(this.repo, step.verb, step.seed, name);
        for (const one of this.landed) one.isNewest = false;
        return;
      case 'hand':
        return byHand(this.repo, this.made, {
          path: this.taskAt(step.task)?.worktreePath,
          seed: step.seed,
          name,
        });
      case 'product':
        return this.ask(step, name);
    }
  }

  /** Everything that can be taken back is, and then nothing that anybody made is missing. */
  async end(): Promise<void> {
    await this.ask({ by: 'product', verb: 'doctor', task: 0, seed: 0, fault: { kind: 'none' } }, 'end');
    for (const task of this.tasks) await this.takeAllBack(task);
    const board = await this.core.tasks.list();
    assert.deepEqual(board.problems, []);
    await assertWhole(this.repo, board.tasks);
    await this.made.nothingLost('at the end');
  }

  private taskAt(index: number): Task | undefined {
    return this.tasks[index % Math.max(1, this.tasks.length)];
  }

  private async ask(step: ProductStep, name: string): Promise<void> {
    const fitting = this.tasks.filter((one) => fits(one, step.verb));
    const isAboutTask = !boardVerbs.includes(step.verb);
    const task = isAboutTask ? fitting[step.task % Math.max(1, fitting.length)] : undefined;
    if (isAboutTask && task === undefined) return;
    await this.script(step, name);
    if (step.verb === 'sweep') this.tasks = await letTimePass(this.core, step.seed);
    await this.made.sample();
    const before = await usersState(this.repo);
    const stood = await this.listings();
    const came = await this.perform(step, task);
    const { tasks, problems } = await this.core.tasks.list();
    const said = `${step.verb} ${task?.slug ?? ''} with ${JSON.stringify(step.fault)}: ${JSON.stringify(came).slice(0, 400)}`;
    this.parts.told(said);
    assert.deepEqual(problems, [], said);
    if (step.fault.kind === 'none') {
      assert.notEqual(came.failure, 'internal', `${said}\n${String(came.message)}`);
      assert.notEqual(came.outcome, 'ill', `doctor finds again what it mended: ${String(came.message)}`);
    }
    const now = this.tasks;
    this.tasks = tasks;
    await this.usersIsTheirs(step, { before, came, said });
    await this.compareTasks(now, { step, before, stood, said });
    if (came.outcome === 'takenBack') await this.isTakenBack(task, { stood, came, said });
    await this.made.nothingLost(said);
  }

  /** Two Turns of an agent, each a script that no guard sees, or one. */
  private async script({ seed }: ProductStep, name: string): Promise<void> {
    const folder = join(this.repo.folder, `script-${name}`);
    await writeFile(`${folder}-0`, agentScript(seed, `${name}x`));
    await writeFile(`${folder}-1`, agentScript(seed + 1, `${name}y`));
    const turns = 1 + (seed % 2);
    this.parts.server.script(async (_request, index) => {
      if (index > 0) await this.made.sample();
      return index < turns ? bash(`sh '${folder}-${index}'`) : say(finalAnswer);
    });
  }

  private async perform({ verb, seed, fault }: ProductStep, task: Task | undefined): Promise<Came> {
    const call = { verb, seed, taskId: task?.id };
    if (fault.kind === 'none') return perform(this.core, call);
    if (fault.kind !== 'lock')
      return this.parts.processes.perform({
        directory: this.repo.root,
        baseUrl: this.parts.server.url,
        call,
        fault,
      });
    // Another git is at it for a while.
    const admin = `.git/worktrees/${task?.slug ?? ''}`;
    const lock = join(this.repo.root, fault.ms % 2 === 0 ? '.git' : admin, 'index.lock');
    await writeFile(lock, '').catch(() => undefined);
    const gone = new Promise<void>((resolve) => {
      setTimeout(() => void rm(lock, { force: true }).then(resolve), fault.ms);
    });
    const [came] = await Promise.all([perform(this.core, call), gone]);
    return came;
  }

  /** HEAD, staged tree, stash, refs and files are changed by nothing but what is for that. */
  private async usersIsTheirs(
    step: ProductStep,
    { before, came, said }: { before: UsersState; came: Came; said: string },
  ): Promise<void> {
    const after = await usersState(this.repo);
    assert.equal(after.stash, before.stash, said);
    const isCommitting =
      step.verb.startsWith('undo') || (step.verb === 'accept' && modeOf(step.seed) !== 'apply');
    const isWriting = step.verb.startsWith('undo') || step.verb.startsWith('accept');
    const isRefused = step.fault.kind === 'none' && !['landed', 'undone'].includes(came.outcome ?? '');
    if (!isCommitting || isRefused) {
      const { files: _before, ...others } = before;
      const { files: _after, ...now } = after;
      assert.deepEqual(now, others, said);
    }
    if (!isWriting || isRefused) assert.deepEqual(differences(before.files, after.files), [], said);
    else if (came.paths !== undefined) {
      const landed = new Set(came.paths);
      const strange = differing(before.files, after.files).filter((path) => !landed.has(path));
      assert.deepEqual(
        strange.filter((path) => !path.endsWith('/')),
        [],
        said,
      );
    }
  }

  private async compareTasks(
    earlier: readonly Task[],
    parts: { step: ProductStep; before: UsersState; stood: ReadonlyMap<string, Listing>; said: string },
  ): Promise<void> {
    for (const task of this.tasks) {
      const was = earlier.find(({ id }) => id === task.id);
      await this.compareLandings(task, was, parts);
      if (task.expiredAt !== undefined) this.made.mayGo(task.worktreePath ?? task.id);
      const listing = parts.stood.get(task.id);
      // One that ended by itself did so after its agent's last change.
      const isByUser = !runVerbs.includes(parts.step.verb);
      if (was?.state === 'open' && task.state !== 'open' && listing !== undefined && isByUser)
        this.ended.set(task.id, listing);
      if (was !== undefined && was.state !== 'open' && task.state === 'open')
        await this.cameBack(task, parts.step, parts.said);
    }
  }

  private async compareLandings(
    task: Task,
    was: Task | undefined,
    { before, said }: { before: UsersState; said: string },
  ): Promise<void> {
    const difference = standing(task) - standing(was);
    if (difference > 0) {
      for (const one of this.landed) one.isNewest = false;
      this.landed.push({ taskId: task.id, before, isNewest: true });
    } else if (difference < 0) {
      const at = this.landed.findLastIndex(({ taskId }) => taskId === task.id);
      const [gone] = at < 0 ? [] : this.landed.splice(at, 1);
      if (gone?.isNewest === true) await this.isAsBefore(gone.before, said);
      for (const one of this.landed) one.isNewest = false;
    }
  }

  private async isAsBefore(before: UsersState, said: string): Promise<void> {
    const { files, ...now } = await usersState(this.repo);
    const { files: filesBefore, ...earlier } = before;
    assert.deepEqual(differences(filesBefore, files), [], `undone: ${said}`);
    assert.deepEqual(now, earlier, `undone: ${said}`);
  }

  /** A Worktree that came back holds what it held when its Task ended. */
  private async cameBack(task: Task, { verb }: Pick<ProductStep, 'verb'>, said: string): Promise<void> {
    const listing = this.ended.get(task.id);
    this.ended.delete(task.id);
    if (listing === undefined || !['restore', 'undo', 'undoMerge'].includes(verb)) return;
    const now = (await this.listings()).get(task.id) ?? new Map<string, string>();
    assert.deepEqual(differences(listing, now), [], `came back: ${said}`);
  }

  /** There and back: what had to give way is set aside, all else is as it was. */
  private async isTakenBack(
    task: Task | undefined,
    { stood, came, said }: { stood: ReadonlyMap<string, Listing>; came: Came; said: string },
  ): Promise<void> {
    const before = stood.get(task?.id ?? '');
    const after = (await this.listings()).get(task?.id ?? '');
    if (before === undefined || after === undefined) return;
    const hasGivenWay = (path: string): boolean =>
      (came.aside ?? []).some((one) => path === one || path.startsWith(`${one}/`));
    // git writes the index of a repository inside anew when it looks at it.
    const others = (listing: Listing): Listing =>
      new Map([...listing].filter(([path]) => !hasGivenWay(path) && !path.endsWith('/.git/index')));
    assert.deepEqual(differences(others(before), others(after)), [], `taken back: ${said}`);
  }

  private async takeAllBack(first: Task): Promise<void> {
    for (let round = 0; round < 8; round += 1) {
      const task = (await this.core.tasks.find(first.id)).task;
      const back: ProductVerb = round % 2 === 0 ? 'undo' : 'undoMerge';
      const verb = standing(task) > 0 ? back : 'restore';
      if (verb === 'restore' && (task.state === 'open' || task.branch === undefined)) return;
      if (task.expiredAt !== undefined) return;
      const at = this.tasks.filter((one) => fits(one, verb)).findIndex(({ id }) => id === task.id);
      await this.ask({ by: 'product', verb, task: at, seed: 0, fault: { kind: 'none' } }, `e${round}`);
    }
  }

  private async listings(): Promise<Map<string, Listing>> {
    const found = new Map<string, Listing>();
    for (const { id, worktreePath } of this.tasks) {
      if (worktreePath === undefined) continue;
      const files = await worktreeFiles(worktreePath).catch(() => undefined);
      if (files !== undefined) found.set(id, files);
    }
    return found;
  }
}
