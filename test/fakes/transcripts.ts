import { makeRunId, makeTaskId } from '../../src/model/ids';
import {
  entrySchema,
  type NewEntry,
  type Transcript,
  type TranscriptHeader,
  transcriptHeaderSchema,
} from '../../src/model/transcript';

export function transcriptHeader(changes: Partial<TranscriptHeader> = {}): TranscriptHeader {
  const at = new Date('2026-01-02T03:04:05.678Z');
  return transcriptHeaderSchema.parse({
    v: 1,
    type: 'header',
    runId: makeRunId('20260102T030405678', 1),
    taskId: makeTaskId(at, 1),
    kind: 'first',
    agent: 'general',
    model: 'claude-sonnet-5-5',
    lifecycle: 'foreground',
    context: 'isolated',
    base: { ref: 'HEAD', commit: '0'.repeat(40) },
    treeAtStart: '1'.repeat(40),
    system: [{ type: 'text', text: 'system' }],
    tools: [],
    params: { model: 'claude-sonnet-5-5', maxTokens: 1000 },
    appVersion: '0.0.0',
    startedAt: at.toISOString(),
    ...changes,
  });
}

/** A transcript as it comes back from disk: every entry has been through JSON and its schema. */
export function recordedTranscript(
  entries: readonly NewEntry[],
  header: Partial<TranscriptHeader> = {},
): Transcript {
  return {
    header: transcriptHeader(header),
    entries: entries.map((entry, index) =>
      entrySchema.parse(
        JSON.parse(
          JSON.stringify({
            ...entry,
            id: `e${index}`,
            parentId: index === 0 ? null : `e${index - 1}`,
            at: '2026-01-02T03:04:06.000Z',
          }),
        ),
      ),
    ),
    problems: [],
  };
}
