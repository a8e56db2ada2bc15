import { toTributaryError } from '../base/errors';
import type { Ailment, DoctorDeps, Scene } from './ailment';
import { boardAilments } from './boardAilments';
import type { AilmentReport } from './housekeepingApi';
import { machineAilments } from './machineAilments';
import { placeAilments } from './placeAilments';
import { refAilments } from './refAilments';
import { worktreeAilments } from './worktreeAilments';

/** Finds what is wrong with a repository's board, Worktrees and refs, and mends what is ours to mend. */
export class Doctor {
  private readonly deps: DoctorDeps;

  constructor(deps: DoctorDeps) {
    this.deps = deps;
  }

  /** Looks only, unless `mend`. In this order: what a later kind finds may be the earlier one's doing. */
  async examine({ mend = false }: { mend?: boolean } = {}): Promise<readonly AilmentReport[]> {
    const reports: AilmentReport[] = [];
    for (const find of [placeAilments, worktreeAilments, boardAilments, refAilments, machineAilments]) {
      const found = await find(await this.scene());
      for (const ailment of found) reports.push(await reported(ailment, mend));
    }
    return reports;
  }

  private async scene(): Promise<Scene> {
    const { care, store, keeper, worktrees, repository } = this.deps;
    const listed = await worktrees.list();
    return {
      deps: this.deps,
      board: await store.care.look(),
      registrations: await care.registrations(),
      root: await keeper.root(),
      checkouts: new Set([repository.facts.root, ...listed.map(({ path }) => path)]),
    };
  }
}

async function reported({ mend, ...ailment }: Ailment, isMending: boolean): Promise<AilmentReport> {
  const report = { ...ailment, canMend: mend !== undefined };
  if (!isMending || mend === undefined) return report;
  try {
    await mend();
    return { ...report, outcome: { kind: 'mended' } };
  } catch (error) {
    return { ...report, outcome: { kind: 'failed', message: toTributaryError(error).message } };
  }
}
