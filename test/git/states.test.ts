import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { states } from './states/allStates';
import { forgetTemplates, type RepositoryState } from './states/state';
import { walk, wander } from './states/walker';
import { generator } from './support/random';
import { cleanUp } from './support/tempRepo';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const table = Object.values(states)
  .flat()
  .filter((state) => isLong || state.onlyLong !== true);

/** So many walk at once: nearly all of the time is git's. */
const lanes = 2;

describe('start, accept, undo, discard, restore and accept again keep every byte', () => {
  const servers: StrictServer[] = [];
  const walks = new Map<number, Promise<void>>();
  let ran = 0;

  const walkAlone = async (index: number): Promise<void> => {
    const [state, server] = [table[index], servers[index % lanes]];
    if (state === undefined || server === undefined) return;
    await walk(state, server, isLong ? 'all' : (state.short ?? 'landing'));
    const random = generator(index);
    if (isLong) await wander(state, server, { random, rounds: 3 });
  };

  /** Each lane walks its states one after the other. */
  const walkOf = (index: number): Promise<void> => {
    let walked = walks.get(index);
    if (walked !== undefined) return walked;
    const earlier = walks.get(index - lanes) ?? Promise.resolve();
    walked = earlier.catch(() => undefined).then(() => walkAlone(index));
    // A failure is told by the test that waits for it.
    walked.catch(() => undefined);
    walks.set(index, walked);
    return walked;
  };

  const test = (state: RepositoryState): void => {
    it(state.title, async () => {
      const index = table.indexOf(state);
      const walked = walkOf(index);
      for (let ahead = 1; ahead < lanes; ahead += 1) walkOf(index + ahead);
      await walked;
      ran += 1;
    });
  };

  before(async () => {
    for (let lane = 0; lane < lanes; lane += 1) servers.push(await startStrictServer({ apiKey: 'test-key' }));
  });

  after(async () => {
    await Promise.allSettled(walks.values());
    await Promise.all(servers.map((server) => server.close()));
    await cleanUp();
    forgetTemplates();
    console.log(`      ${ran} repository states ran`);
  });

  for (const [about, rows] of Object.entries(states)) {
    describe(about, () => {
      for (const state of rows) if (table.includes(state)) test(state);
    });
  }
});
