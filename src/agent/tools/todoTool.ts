import * as z from 'zod';
import { answer } from './outcome';
import type { Tool } from './tool';

const input = z.object({
  todos: z.array(
    z.object({
      content: z.string(),
      status: z.enum(['pending', 'in_progress', 'completed']),
      activeForm: z.string(),
    }),
  ),
});
type Input = z.infer<typeof input>;

const marks = { pending: '[ ]', in_progress: '[~]', completed: '[x]' } as const;

export const todoTool: Tool<Input> = {
  name: 'TodoWrite',
  description: 'Replaces the plan of this task; the user sees it.',
  input,
  isCommand: false,
  async run({ todos }, _call, context) {
    context.onTodos(todos);
    if (todos.length === 0) return answer('The plan is empty.');
    return answer(todos.map((todo) => `${marks[todo.status]} ${todo.content}`).join('\n'));
  },
};
