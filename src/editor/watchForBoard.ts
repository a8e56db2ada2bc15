import { watch } from 'node:fs';
import type { Disposable } from '../base/disposable';
import type { Logger } from '../base/logger';
import { hasBoard } from './gitFolders';

/** A board is two folders deep; its maker needs a moment for the second one. */
const settleMs = 300;

/** Calls `onMade` once, when somebody makes a board in the repository. Where nothing can be watched, never. */
export function watchForBoard(commonDir: string, logger: Logger, onMade: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    if (isOver || !(await hasBoard(commonDir)) || isOver) return;
    end();
    onMade();
  };
  const watcher = openWatch(commonDir, logger, (name) => {
    if (name !== 'tributary') return;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), settleMs);
  });
  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
    watcher?.close();
  };
  return { dispose: end };
}

function openWatch(
  folder: string,
  logger: Logger,
  onName: (name: string | null) => void,
): { close(): void } | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onName(name));
    watcher.on('error', (error) => logger.warn('a repository cannot be watched', { folder, error }));
    return watcher;
  } catch (error) {
    logger.warn('a repository cannot be watched', { folder, error });
    return undefined;
  }
}
