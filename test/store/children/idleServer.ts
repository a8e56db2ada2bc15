// Holds everything a process holds while it owns a Run, and has nothing else to do: it must end by itself.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeTaskId } from '../../../src/model/ids';
import { openStore } from '../../../src/store/openStore';

const { commonDir } = z.object({ commonDir: z.string() }).parse(JSON.parse(process.argv[2] ?? ''));
const store = await openStore({ commonDir });
const id = makeTaskId(new Date(0), 1);
await mkdir(join(store.directory, 'tasks', id, 'requests'), { recursive: true });
await store.owners.self();
store.tasks.watch(() => undefined);
store.requests.serve(id, () => undefined);
console.log('serving');
