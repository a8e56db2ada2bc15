// Does one step of a walk in a process of its own, which may be killed or find its disk full; prints what came of it.
import * as z from 'zod';
import { install } from './faults';
import { productVerbs } from './verbs';

const requestSchema = z.object({
  directory: z.string(),
  baseUrl: z.string(),
  call: z.object({ verb: z.enum(productVerbs), taskId: z.string().optional(), seed: z.number() }),
  fault: z.union([
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('kill'), at: z.number(), match: z.string().optional() }),
    z.object({ kind: z.literal('full'), at: z.number(), lasting: z.number() }),
    z.object({ kind: z.literal('lock'), ms: z.number() }),
  ]),
});
const { directory, baseUrl, call, fault } = requestSchema.parse(JSON.parse(process.argv[2] ?? ''));

const { openCore, perform } = await import('./perform');
const core = await openCore(directory, baseUrl);
install(fault);
const came = await perform(core, call);
await core.dispose();
console.log(JSON.stringify(came));
