import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { startStrictServer } from '../wire/support/strictServer';
import { cleanUp, type TempRepo } from './support/tempRepo';
import { StepProcesses } from './walk/processes';
import { sequences } from './walk/steps';
import { makeTemplate, walk } from './walk/walk';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
/** Another seed tries other sequences; with the path that a failure names, just that one. */
const seed = Number(process.env['TRIBUTARY_WALK_SEED'] ?? 1);
const path = process.env['TRIBUTARY_WALK_PATH'];
const isTold = process.env['TRIBUTARY_WALK_TRACE'] !== undefined;
const parts = Number(process.env['TRIBUTARY_WALK_PARTS'] ?? (isLong ? 25 : 1));
/** So many seeds are walked side by side: a walk waits for processes most of the time. */
const abreast = path === undefined && isLong ? 2 : 1;
const each = isLong ? 20 : 5;
const seeds = Array.from({ length: parts }, (_, part) => seed + part);

describe('a random walk of user, agents and product, with kills, full disks and foreign locks', () => {
  let processes: StepProcesses;
  let template: TempRepo;
  const counts = new Map<string, number>();
  let walked = 0;

  before(async () => {
    processes = await StepProcesses.make();
    template = await makeTemplate();
  });
  after(async () => {
    await processes.remove();
    await cleanUp();
    const came = [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
    console.log(`      ${walked} sequences walked${isLong ? `: ${came.join(', ')}` : ''}`);
  });

  const told = (line: string): void => {
    const what = /^(\w+) .*"(?:outcome|failure)":"([\w,]*)"/.exec(line)?.slice(1).join(' ') ?? line;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  };

  async function walkOne(one: number): Promise<void> {
    const server = await startStrictServer({ apiKey: 'test-key' });
    const say = (line: string): void => {
      if (isTold) console.log(`[${one}] ${line}`);
    };
    const property = fc.asyncProperty(sequences, async (steps) => {
      say(JSON.stringify(steps));
      await walk(steps, {
        ...{ server, processes, template },
        told: (line) => {
          told(line);
          say(line);
        },
      });
      walked += 1;
    });
    try {
      await fc.assert(property, {
        seed: one,
        numRuns: path === undefined ? each : 1,
        // A sequence takes seconds: what it shrinks to is looked for where somebody asks for it.
        endOnFailure: process.env['TRIBUTARY_WALK_SHRINK'] === undefined,
        ...(path === undefined ? {} : { path }),
      });
      assert.deepEqual(server.refusals, []);
    } catch (error) {
      // At once: mocha tells at the end of the whole walk.
      if (isLong) console.log(`      seed ${one}: ${String(error)}\n${String((error as Error).cause ?? '')}`);
      throw error;
    } finally {
      await server.close();
    }
  }

  for (let at = 0; at < seeds.length; at += abreast) {
    const some = seeds.slice(at, at + abreast);
    it(`loses no byte that anybody made and leaves the user's alone (seed ${some.join(', ')})`, async function () {
      this.timeout(isLong ? 1_200_000 : 180_000);
      const ends = await Promise.allSettled(some.map(walkOne));
      const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      if (errors.length > 0)
        throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.join('\n'));
    });
  }
});
