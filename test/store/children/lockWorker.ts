// Takes the lock "counter" and adds one to a file, again and again; or dies where it is told to.
import { open, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type FileOps, systemFileOps } from '../../../src/base/atomicFile';
import { openStore } from '../../../src/store/openStore';
import { systemProcessTable } from '../../../src/store/processIdentity';

const requestSchema = z.object({
  commonDir: z.string(),
  rounds: z.number(),
  death: z.enum(['never', 'holding', 'claiming', 'beforeRemoval', 'afterRemoval']),
});
const { commonDir, rounds, death } = requestSchema.parse(JSON.parse(process.argv[2] ?? ''));
const counter = join(commonDir, 'counter');
const inside = join(commonDir, 'inside');

const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

const mortalOps: FileOps = {
  ...systemFileOps,
  link: async (from, to) => {
    await systemFileOps.link(from, to);
    if (death === 'claiming' && to.endsWith('.claim')) die();
  },
  unlink: async (path) => {
    if (death === 'beforeRemoval' && path.endsWith('.lock')) die();
    await systemFileOps.unlink(path);
    if (death === 'afterRemoval' && path.endsWith('.lock')) die();
  },
};

/** Fails when somebody alive is in the section too. */
async function enter(): Promise<void> {
  for (;;) {
    try {
      const file = await open(inside, 'wx');
      await file.write(String(process.pid));
      return await file.close();
    } catch {
      const pid = Number(await readFile(inside, 'utf8').catch(() => '0'));
      if (pid > 0 && (await systemProcessTable().look(pid)).kind === 'running') {
        throw new Error(`process ${pid} holds the lock too`);
      }
      await unlink(inside);
    }
  }
}

const store = await openStore({ commonDir, machine: { ops: mortalOps } });
console.log('ready');
for (let round = 0; round < rounds; round += 1) {
  await store.locks.withLock(
    'counter',
    async () => {
      await enter();
      const next = Number(await readFile(counter, 'utf8')) + 1;
      if (death === 'holding') {
        console.log('holding');
        // Long enough for anybody; the parent kills.
        await new Promise((resolve) => setTimeout(resolve, 120_000));
      }
      await writeFile(`${counter}.${process.pid}`, String(next));
      await rename(`${counter}.${process.pid}`, counter);
      console.log(`wrote ${next}`);
      await unlink(inside);
    },
    { waitMs: 100_000 },
  );
}
await store.dispose();
console.log('done');
