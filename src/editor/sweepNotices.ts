import * as vscode from 'vscode';
import type { SweptItem } from '../tasks/housekeepingApi';
import type { Memory } from './consent';
import type { Dialogs } from './dialogs';
import { sizeText, sweptText, totalSize } from './houseWords';

export interface SweepNoticesDeps {
  readonly dialogs: Dialogs;
  /** Remembers for the user that it was told once. */
  readonly memory: Memory;
  readonly log: { show(): void };
}

const key = 'sweep.told';

/** Tells the first time that the daily sweep took something; after that the log says it. */
export class SweepNotices {
  private readonly deps: SweepNoticesDeps;

  constructor(deps: SweepNoticesDeps) {
    this.deps = deps;
  }

  async take(items: readonly SweptItem[]): Promise<void> {
    const { dialogs, memory, log } = this.deps;
    const removed = items.filter(({ outcome }) => outcome === 'removed');
    if (removed.length === 0 || memory.get(key) === true) return;
    await memory.update(key, true);
    const showLog = vscode.l10n.t('Show Log');
    const message = vscode.l10n.t(
      'Tributary tidied up: {0} removed, {1} freed. Changes of open Tasks are never removed. From now on only the log says so.',
      sweptText(removed),
      sizeText(totalSize(removed)),
    );
    if ((await dialogs.say('info', message, showLog)) === showLog) log.show();
  }
}
