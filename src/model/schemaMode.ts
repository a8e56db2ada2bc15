import * as z from 'zod';

/**
 * Schemas made from now on check values without compiling code for it first: cheaper for a process that lives
 * for a moment. Call it before anything that holds schemas is loaded.
 */
export function checkWithoutCompiling(): void {
  z.config({ jitless: true });
}
