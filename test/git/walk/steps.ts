import * as fc from 'fast-check';
import { type ProductVerb, productVerbs } from './verbs';

/** What happens to the process that does a step, or around it. `at`: the how many-th operation on disk or process. */
export type Fault =
  | { readonly kind: 'none' }
  | { readonly kind: 'kill'; readonly at: number; readonly match?: string | undefined }
  | { readonly kind: 'full'; readonly at: number; readonly lasting: number }
  | { readonly kind: 'lock'; readonly ms: number };

const userVerbs = [
  'edit',
  'write',
  'ignored',
  'remove',
  'add',
  'commit',
  'stash',
  'pop',
  'reset',
  'switch',
] as const;
export type UserVerb = (typeof userVerbs)[number];

export interface ProductStep {
  readonly by: 'product';
  readonly verb: ProductVerb;
  /** Which Task, counted round among those there are. */
  readonly task: number;
  /** Seeds whatever else is to be chosen. */
  readonly seed: number;
  readonly fault: Fault;
}

/** One thing that the user, the product with its agents, or somebody in a Worktree does. */
export type Step =
  | { readonly by: 'user'; readonly verb: UserVerb; readonly seed: number }
  | { readonly by: 'hand'; readonly task: number; readonly seed: number }
  | ProductStep;

const seed = fc.nat({ max: 1_000_000 });
const task = fc.nat({ max: 5 });

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fault>({ kind: 'none' }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), at: fc.integer({ min: 1, max: 110 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('full' as const),
      at: fc.integer({ min: 1, max: 120 }),
      lasting: fc.constantFrom(1, 3, 10, 1000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lock' as const), ms: fc.integer({ min: 20, max: 300 }) }),
  },
);

const product = (verb: fc.Arbitrary<ProductVerb>): fc.Arbitrary<Step> =>
  fc.record({ by: fc.constant('product' as const), verb, task, seed, fault });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ by: fc.constant('user' as const), verb: fc.constantFrom(...userVerbs), seed }),
  },
  { weight: 1, arbitrary: fc.record({ by: fc.constant('hand' as const), task, seed }) },
  { weight: 6, arbitrary: product(fc.constantFrom(...productVerbs)) },
);

/** A Task to begin with, then anything. */
export const sequences: fc.Arbitrary<readonly Step[]> = fc
  .tuple(product(fc.constant('start' as const)), fc.array(step, { minLength: 4, maxLength: 11 }))
  .map(([first, rest]) => [first, ...rest]);
