import type { Merges } from '../../src/git/merges';
import type { LandingAim, LandingModes } from '../../src/tasks/landingModes';

/** A Landing into the working tree, with no acceptance tests. */
export const plainAim: LandingAim = {
  mode: 'apply',
  message: '',
  objective: '',
  line: () => Promise.reject(new Error('no commits are asked for')),
  gate: async () => undefined,
};

/** The modes of a Landing that makes no commits. */
export function plainModes(merges: Merges): LandingModes {
  return {
    plan: async (checkout, { base, theirs }) => {
      const preview = await merges.preview({ checkout, base, theirs });
      return { preview, tree: preview.merged };
    },
    ready: async (_checkout, { preview }) => ({ kind: 'ready', preview }),
    keep: async () => undefined,
    forward: async () => [],
    back: async () => [],
    settle: async () => true,
    standing: async () => 'before',
    isHeld: async () => false,
    unstage: async () => undefined,
    movedOn: async () => undefined,
    isTakenBack: async () => false,
    sweep: async () => undefined,
    landed: async () => undefined,
  };
}
