import { relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import { messageOf } from '../../base/errors';
import { answer, failure } from './outcome';
import { isInside } from './paths';
import type { Tool } from './tool';

const maxLength = 60_000;

const input = z.object({ path: z.string().optional() });
type Input = z.infer<typeof input>;

export const diffTool: Tool<Input> = {
  name: 'Diff',
  description: 'Shows what this task changed against its base, new files included.',
  input,
  isCommand: false,
  async run(wish, _call, context) {
    const { root } = context;
    // By name alone: what changed may be a link, or a file that is gone.
    const named = wish.path === undefined ? root : resolve(root, wish.path);
    if (!isInside(named, root)) return failure(`${wish.path} is outside the Worktree ${root}.`);
    const path = named === root ? undefined : relative(root, named).split(sep).join('/');
    let text: string;
    try {
      text = await context.diff(path);
    } catch (error) {
      return failure(`Diff failed: ${messageOf(error)}`);
    }
    if (text === '') return answer(path === undefined ? 'No changes.' : `No changes in ${path}.`);
    if (text.length <= maxLength) return answer(text);
    const cut = text.slice(0, text.lastIndexOf('\n', maxLength) + 1);
    return answer(`${cut}(${text.length - cut.length} characters more; ask with path, file by file)`);
  },
};
