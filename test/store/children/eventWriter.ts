// Appends events of its own to the board's event file, some of them long.
import * as z from 'zod';
import { makeTaskId } from '../../../src/model/ids';
import { openStore } from '../../../src/store/openStore';

const requestSchema = z.object({ commonDir: z.string(), counter: z.number(), count: z.number() });
const { commonDir, counter, count } = requestSchema.parse(JSON.parse(process.argv[2] ?? ''));

const store = await openStore({ commonDir });
console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (let index = 0; index < count; index += 1) {
  await store.worktrees.appendEvent({
    v: 1,
    at: `${counter}-${index}`,
    taskId: makeTaskId(new Date(0), counter),
    type: 'worktree.create.failed',
    code: 'worktreeFailed',
    message: `${counter} `.repeat(index % 10 === 0 ? 20_000 : 10),
  });
}
await store.dispose();
process.stdin.destroy();
