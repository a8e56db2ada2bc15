/** What the product is asked for. Without the generators, which the processes of single steps have no use for. */
export const productVerbs = [
  'start',
  'followUp',
  'resume',
  'accept',
  'acceptPart',
  'undo',
  'undoMerge',
  'discard',
  'restore',
  'restoreTo',
  'mergeIn',
  'mark',
  'sweep',
  'doctor',
] as const;
export type ProductVerb = (typeof productVerbs)[number];

/** Those that are about no Task in particular. */
export const boardVerbs: readonly ProductVerb[] = ['start', 'sweep', 'doctor'];

/** Those in which an agent works. */
export const runVerbs: readonly ProductVerb[] = ['start', 'followUp', 'resume'];
