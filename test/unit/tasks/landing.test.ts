import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TributaryError } from '../../../src/base/errors';
import type { MergePreview, Merges } from '../../../src/git/merges';
import { type LandingId, makeLandingId } from '../../../src/model/ids';
import type { LandedSide, LandingRecord } from '../../../src/model/landing';
import type { Journal, Locks, Store } from '../../../src/store/store';
import { Landing, type LandingSteps, wholeOf } from '../../../src/tasks/landing';
import { plainAim, plainModes } from '../../fakes/landingAims';
import { at, makeTask } from '../../fakes/records';

const absent: LandedSide = { kind: 'absent' };
const file = (content: string): LandedSide => ({ kind: 'file', sha256: content, executable: false });

/** A checkout in memory that can fail, or be changed by its user, at a chosen write. */
class MemoryCheckout {
  readonly files = new Map<string, LandedSide>();
  readonly journal = new Map<string, LandingRecord>();
  failAtPut = -1;
  userWritesAtPut = -1;
  /** Right between the look at the file that is put, or at another one, and its writing. */
  userSavesAtPut: { readonly index: number; readonly path?: string } | undefined;
  /** Where no file can be put. */
  takenPath: string | undefined;
  private puts = 0;
  private readonly changes: ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>;

  constructor(changes: ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>) {
    this.changes = changes;
    for (const one of changes) if (one.before.kind !== 'absent') this.files.set(one.path, one.before);
  }

  state(): Record<string, string> {
    return Object.fromEntries([...this.files].sort().map(([path, side]) => [path, JSON.stringify(side)]));
  }

  merges(conflicts: MergePreview['conflicts'] = []): Merges {
    return {
      preview: async () => ({
        ours: 'ours',
        merged: 'merged',
        paths: this.changes.map(({ path }) => ({ path, before: 'absent', after: 'absent' })),
        conflicts,
      }),
      stalePaths: async () =>
        this.changes
          .filter((one) => JSON.stringify(this.side(one.path)) !== JSON.stringify(one.before))
          .map((one) => one.path),
      stage: async () => this.changes,
      standing: async (_checkout, path) => {
        const side = this.side(path);
        return { side, stamp: JSON.stringify(side) };
      },
      sweep: async () => undefined,
      foldersOf: async () => [],
      putFolders: async () => undefined,
      stageUndo: () => assert.fail('not asked here'),
      putSide: async (_checkout, path, side, { over }) => {
        if (path === this.takenPath) throw new TributaryError('stale', 'a folder with files stands there');
        const index = this.puts;
        this.puts += 1;
        if (index === this.failAtPut) throw new Error('disk full');
        if (index === this.userWritesAtPut) {
          const later = this.changes.at(-1);
          if (later !== undefined) this.files.set(later.path, file('typed by the user'));
        }
        if (index === this.userSavesAtPut?.index)
          this.files.set(this.userSavesAtPut.path ?? path, file('saved by the user'));
        if (over !== undefined && JSON.stringify(this.side(path)) !== over)
          throw new TributaryError('stale', 'it was written meanwhile');
        if (side.kind === 'absent') this.files.delete(path);
        else this.files.set(path, side);
      },
    };
  }

  landing(conflicts: MergePreview['conflicts'] = []): Landing {
    const journal: Journal = {
      create: async () => ({ id: makeLandingId(new Date(at), 1), directory: '/journal' }),
      save: async (record) => void this.journal.set(record.id, record),
      load: async (id) => this.journal.get(id) ?? assert.fail(`no landing ${id}`),
      list: async () => [...this.journal.values()],
      drop: async (id) => void this.journal.delete(id),
      directory: () => '/journal',
    };
    const locks: Pick<Locks, 'withLock'> = { withLock: (_name, body) => body() };
    const store: Pick<Store, 'journal' | 'locks'> = {
      journal,
      locks: { ...locks, acquire: async () => ({ release: async () => undefined }) },
    };
    const merges = this.merges(conflicts);
    return new Landing({ merges, modes: plainModes(merges), store, now: () => at });
  }

  private side(path: string): LandedSide {
    return this.files.get(path) ?? absent;
  }
}

const sides = fc.oneof(fc.constant(absent), fc.string({ maxLength: 3 }).map(file));
const changesOf = fc.uniqueArray(
  fc.record({ path: fc.stringMatching(/^[a-c]{1,4}$/), before: sides, after: sides }),
  {
    selector: (one) => one.path,
    minLength: 1,
    maxLength: 6,
  },
);

const task = makeTask();
const part = wholeOf(task, 'theirs');
const nothing = async (): Promise<void> => undefined;
const ignore: LandingSteps = { journalled: nothing, dropped: nothing };
/** What a killed process does next. */
const never = (): Promise<void> => new Promise(() => undefined);

describe('Landing', () => {
  it('brings every path to its new side, and undo brings every path back byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(changesOf, async (changes) => {
        const checkout = new MemoryCheckout(changes);
        const landing = checkout.landing();
        const before = checkout.state();
        const outcome = await landing.land(task, part, plainAim, { steps: ignore });
        assert.equal(outcome.kind, 'landed');
        const expected = changes
          .filter((one) => one.after.kind !== 'absent')
          .map((one) => [one.path, JSON.stringify(one.after)]);
        assert.deepEqual(checkout.state(), Object.fromEntries(expected.sort()));
        if (outcome.kind === 'landed') await landing.undo(outcome.id);
        assert.deepEqual(checkout.state(), before);
      }),
    );
  });

  it('is all or nothing: a failure at any write takes back what was written', async () => {
    await fc.assert(
      fc.asyncProperty(changesOf, fc.nat(5), async (changes, failAt) => {
        const checkout = new MemoryCheckout(changes);
        checkout.failAtPut = failAt;
        const before = checkout.state();
        const outcome = await checkout
          .landing()
          .land(task, part, plainAim, { steps: ignore })
          .then(
            (value) => value.kind,
            () => 'threw',
          );
        if (outcome === 'threw') assert.deepEqual([checkout.state(), checkout.journal.size], [before, 0]);
        else assert.equal(outcome, 'landed');
      }),
    );
  });

  it('never overwrites what the user types while it writes: it takes back its own and answers stale', async () => {
    const changes = ['a', 'b', 'c'].map((path) => ({ path, before: file('old'), after: file('new') }));
    const checkout = new MemoryCheckout(changes);
    checkout.userWritesAtPut = 0;
    const outcome = await checkout.landing().land(task, part, plainAim, { steps: ignore });
    assert.deepEqual(outcome, { kind: 'stale', paths: ['c'], isHeadMoved: false });
    assert.deepEqual(checkout.files.get('a'), file('old'));
    assert.deepEqual(checkout.files.get('c'), file('typed by the user'));
  });

  it('leaves what the user saves between the look at a file and its writing, when landing and when undoing', async () => {
    const changes = ['a', 'b', 'c'].map((path) => ({ path, before: file('old'), after: file('new') }));
    for (const index of [0, 1, 2]) {
      const checkout = new MemoryCheckout(changes);
      const landing = checkout.landing();
      const path = ['a', 'b', 'c'][index] ?? '';
      checkout.userSavesAtPut = { index };
      const outcome = await landing.land(task, part, plainAim, { steps: ignore });
      assert.deepEqual(outcome, { kind: 'stale', paths: [path], isHeadMoved: false });
      assert.equal(checkout.journal.size, 0, 'nothing of it is left to finish');
      assert.deepEqual(
        contents(checkout),
        changes.map((one) => (one.path === path ? 'saved by the user' : 'old')),
      );
    }
    const checkout = new MemoryCheckout(changes);
    const landing = checkout.landing();
    const landed = await landing.land(task, part, plainAim, { steps: ignore });
    assert.ok(landed.kind === 'landed');
    checkout.userSavesAtPut = { index: 4 };
    assert.deepEqual(await landing.undo(landed.id), { kind: 'stale', paths: ['b'] });
    assert.deepEqual(contents(checkout), ['new', 'saved by the user', 'new']);
  });

  it('keeps what stood before a file that was edited as soon as it was written, when the rest is taken back', async () => {
    const changes = ['a', 'b', 'c'].map((path) => ({ path, before: file('old'), after: file('new') }));
    const checkout = new MemoryCheckout(changes);
    const landing = checkout.landing();
    checkout.userWritesAtPut = 1;
    checkout.userSavesAtPut = { index: 1, path: 'a' };
    const land = landing.land(task, part, plainAim, { steps: ignore });
    await assert.rejects(land, (error) => error instanceof TributaryError && error.code === 'stale');
    assert.deepEqual(contents(checkout), ['saved by the user', 'old', 'typed by the user']);
    const id = makeLandingId(new Date(at), 1);
    assert.ok(checkout.journal.has(id), 'the journal, which holds it, is kept');
    const finished = await landing.finish(id);
    assert.deepEqual(finished, { state: 'undone', left: ['a', 'c'] });
    assert.deepEqual(contents(checkout), ['saved by the user', 'old', 'typed by the user']);
  });

  it('writes nothing when there is a conflict', async () => {
    const checkout = new MemoryCheckout([{ path: 'a', before: file('old'), after: file('new') }]);
    const before = checkout.state();
    const conflicts = [{ path: 'a', kind: 'content', message: 'both changed it' }];
    const outcome = await checkout.landing(conflicts).land(task, part, plainAim, {
      steps: { ...ignore, journalled: () => assert.fail('nothing may be journalled') },
    });
    assert.equal(outcome.kind, 'conflict');
    assert.deepEqual(checkout.state(), before);
  });

  it('refuses to undo over a file the user changed since, and names it', async () => {
    const checkout = new MemoryCheckout([{ path: 'a', before: absent, after: file('new') }]);
    const landing = checkout.landing();
    const outcome = await landing.land(task, part, plainAim, { steps: ignore });
    checkout.files.set('a', file('edited since'));
    assert.ok(outcome.kind === 'landed');
    assert.deepEqual(await landing.undo(outcome.id), { kind: 'stale', paths: ['a'] });
    assert.deepEqual(checkout.files.get('a'), file('edited since'));
  });

  /** Begun and killed once it was journalled; then as many of `changes`, in their order, as `written` are put there. */
  async function killed(
    changes: ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>,
    written: number,
  ): Promise<{ checkout: MemoryCheckout; landing: Landing; id: LandingId }> {
    const checkout = new MemoryCheckout(changes);
    const landing = checkout.landing();
    const id = await new Promise<LandingId>((resolve) => {
      const journalled = (landingId: LandingId): Promise<void> => {
        resolve(landingId);
        return never();
      };
      landing
        .land(task, part, plainAim, { steps: { ...ignore, journalled } })
        .catch(() => assert.fail('it never ends'));
    });
    for (const one of changes.slice(0, written)) checkout.files.set(one.path, one.after);
    return { checkout, landing, id };
  }
  const three = ['a', 'b', 'c'].map((path) => ({ path, before: file('old'), after: file('new') }));
  const contents = ({ files }: MemoryCheckout): string[] =>
    ['a', 'b', 'c'].map((path) => {
      const side = files.get(path);
      return side?.kind === 'file' ? side.sha256 : 'absent';
    });

  it('finishes a landing whose process died between two writes', async () => {
    for (const written of [0, 1, 2, 3]) {
      const { checkout, landing, id } = await killed(three, written);
      assert.deepEqual(await landing.finish(id), { state: 'landed', left: [] });
      assert.deepEqual(contents(checkout), ['new', 'new', 'new']);
    }
  });

  for (const [title, written, edited, state, stands] of [
    ['goes on where what the user edited meanwhile had been written', 2, 'a', 'landed', 'new'],
    ['goes back where what the user edited meanwhile had not been written', 1, 'c', 'undone', 'old'],
    ['goes back where nobody can tell whether it had', 2, 'b', 'undone', 'old'],
  ] as const)
    it(`${title}; the edit stands, and a second look tells the same`, async () => {
      const { checkout, landing, id } = await killed(three, written);
      checkout.files.set(edited, file('edited'));
      for (let look = 1; look <= 2; look += 1) {
        assert.deepEqual(await landing.finish(id), { state, left: [edited] });
        assert.deepEqual(
          contents(checkout),
          three.map(({ path }) => (path === edited ? 'edited' : stands)),
        );
      }
    });

  it('of an undo that was cut off, what the user edited before it was put back leaves the Landing standing', async () => {
    const { checkout, landing, id } = await killed(three, 3);
    await landing.finish(id);
    const record = checkout.journal.get(id) ?? assert.fail('no record');
    checkout.journal.set(id, { ...record, state: 'undoing' });
    checkout.files.set('a', file('old'));
    checkout.files.set('c', file('edited'));
    assert.deepEqual(await landing.finish(id), { state: 'landed', left: ['c'] });
    assert.deepEqual(contents(checkout), ['new', 'new', 'edited']);
  });

  it('of an undo that was cut off, what the user edited after it was put back keeps nothing from being undone', async () => {
    const { checkout, landing, id } = await killed(three, 3);
    await landing.finish(id);
    const record = checkout.journal.get(id) ?? assert.fail('no record');
    checkout.journal.set(id, { ...record, state: 'undoing' });
    checkout.files.set('a', file('edited'));
    checkout.files.set('b', file('old'));
    assert.deepEqual(await landing.finish(id), { state: 'undone', left: ['a'] });
    assert.deepEqual(contents(checkout), ['edited', 'old', 'old']);
  });

  it('finishes one where the user put something into the place of a file while it goes on', async () => {
    const { checkout, landing, id } = await killed(three, 1);
    checkout.takenPath = 'c';
    assert.deepEqual(await landing.finish(id), { state: 'undone', left: ['c'] });
    assert.deepEqual(contents(checkout), ['old', 'old', 'old']);
  });
});
