import type { Command } from './commandContext';

/** Shows the log. */
export const showOutput: Command = {
  id: 'tributary.showOutput',
  async run(context) {
    context.log.show();
  },
};
