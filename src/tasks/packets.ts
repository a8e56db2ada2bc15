import { TributaryError } from '../base/errors';
import type { ContentDrivers } from '../git/contentDrivers';
import type { Repository } from '../git/repository';
import type { Uncommitted } from '../git/uncommitted';
import { type Base, type TaskPacket, taskPacketSchema } from '../model/packet';
import type { BaseChoice, TaskDraft } from './taskApi';

export interface PacketsDeps {
  readonly repository: Repository;
  readonly uncommitted: Uncommitted;
  readonly drivers: ContentDrivers;
}

/** What a Task may start from, and what the user asks for as a frozen TaskPacket. */
export class Packets {
  private readonly deps: PacketsDeps;

  constructor(deps: PacketsDeps) {
    this.deps = deps;
  }

  async bases(): Promise<readonly BaseChoice[]> {
    const { repository, uncommitted } = this.deps;
    const [head, refs, files] = await Promise.all([
      repository.head(),
      repository.listRefs(),
      uncommitted.count(),
    ]);
    const own = refs.find((one) => one.ref === head.ref);
    const subject = own?.subject ?? (await repository.subjectOf(head.commit));
    const branch = head.ref?.replace(/^refs\/heads\//, '');
    const here = {
      ref: 'HEAD',
      commit: head.commit,
      subject,
      ...(branch === undefined ? {} : { branch }),
    };
    return [
      { kind: 'head', ...here },
      ...(files === 0 ? [] : [{ kind: 'uncommitted', ...here, files } as const]),
      ...refs,
    ];
  }

  async prepare(draft: TaskDraft): Promise<TaskPacket> {
    const { repository, drivers } = this.deps;
    // The Task will want to know; who needs it hears of its failure.
    drivers.current().catch(() => undefined);
    const { base, head } = await this.basesOf(draft);
    const parsed = taskPacketSchema.safeParse({
      v: 1,
      objective: draft.objective,
      ...(draft.scope === undefined || draft.scope.length === 0 ? {} : { scope: draft.scope }),
      repository: { root: repository.facts.root, head, base },
      acceptanceTests: (draft.checks ?? []).map((command) => ({ command })),
      ...(draft.setup === undefined ? {} : { setup: draft.setup }),
    });
    if (parsed.success) return parsed.data;
    const problem = parsed.error.issues
      .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
      .join('; ');
    throw new TributaryError('badArguments', problem, { details: { problem } });
  }

  /** The base that a draft asks for, and where HEAD is. */
  private async basesOf({ base: ref, withUncommitted }: TaskDraft): Promise<{ base: Base; head: string }> {
    const { repository, uncommitted } = this.deps;
    const isHead = ref === undefined || ref === 'HEAD';
    if (withUncommitted === true && !isHead) {
      const problem = 'uncommitted changes stand on HEAD: they cannot go onto another base';
      throw new TributaryError('badArguments', problem, { details: { problem } });
    }
    const [base, other] = await Promise.all([
      repository.resolveBase(ref),
      isHead ? undefined : repository.head(),
    ]);
    const head = (other ?? base).commit;
    return { base: withUncommitted === true ? await uncommitted.baseOn(base) : base, head };
  }
}
