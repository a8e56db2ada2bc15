import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { cleanUp } from './support/tempRepo';
import { StepProcesses } from './walk/processes';
import { sequences } from './walk/steps';
import { walk } from './walk/walk';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
/** Another seed tries other sequences; with the path that a failure names, just that one. */
const seed = Number(process.env['TRIBUTARY_WALK_SEED'] ?? 1);
const path = process.env['TRIBUTARY_WALK_PATH'];
const isTold = process.env['TRIBUTARY_WALK_TRACE'] !== undefined;
const parts = Number(process.env['TRIBUTARY_WALK_PARTS'] ?? (isLong ? 25 : 1));
const each = isLong ? 20 : 5;

describe('a random walk of user, agents and product, with kills, full disks and foreign locks', () => {
  let server: StrictServer;
  let processes: StepProcesses;
  const counts = new Map<string, number>();
  let walked = 0;

  before(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    processes = await StepProcesses.make();
  });
  after(async () => {
    await processes.remove();
    await server.close();
    await cleanUp();
    const came = [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
    console.log(`      ${walked} sequences walked${isLong ? `: ${came.join(', ')}` : ''}`);
  });

  const told = (line: string): void => {
    const what = /^(\w+) .*"(?:outcome|failure)":"([\w,]*)"/.exec(line)?.slice(1).join(' ') ?? line;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    if (isTold) console.log(line);
  };

  for (let part = 0; part < parts; part += 1) {
    it(`loses no byte that anybody made and leaves the user's alone (seed ${seed + part})`, async function () {
      this.timeout(isLong ? 1_200_000 : 180_000);
      const property = fc.asyncProperty(sequences, async (steps) => {
        if (isTold) console.log(JSON.stringify(steps));
        await walk(steps, { server, processes, told });
        walked += 1;
      });
      await fc.assert(property, {
        seed: seed + part,
        numRuns: each,
        // A sequence takes seconds: what it shrinks to is looked for where somebody asks for it.
        endOnFailure: process.env['TRIBUTARY_WALK_SHRINK'] === undefined,
        ...(path === undefined ? {} : { path }),
      });
      assert.deepEqual(server.refusals, []);
    });
  }
});
