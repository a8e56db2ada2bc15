import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Emitter } from '../../../src/base/emitter';
import { silentLogger } from '../../../src/base/logger';
import { transcriptMarkdown } from '../../../src/editor/transcript/exportMarkdown';
import { LiveTexts } from '../../../src/editor/transcript/liveTexts';
import { PageSync } from '../../../src/editor/transcript/pageSync';
import { contains, placeOf } from '../../../src/editor/transcript/places';
import { RunFeed } from '../../../src/editor/transcript/runFeed';
import { searchFeed } from '../../../src/editor/transcript/searchFeed';
import { shortenEntry } from '../../../src/editor/transcript/shortenEntry';
import { makeRunId } from '../../../src/model/ids';
import { entrySchema, type NewEntry, type TranscriptEntry } from '../../../src/model/transcript';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../../../src/tasks/taskApi';
import { emptyState, type PageState, reduce } from '../../../webview-ui/state';
import { at, makeRun, makeTask } from '../../fakes/records';
import { recordedTranscript } from '../../fakes/transcripts';

const runId = makeRunId('20260102T030405678', 1);

function recorded(entry: NewEntry, index: number): TranscriptEntry {
  return entrySchema.parse({ ...entry, id: `e${index + 1}`, parentId: null, at });
}

/** A Run that is written, the host that watches it, and the page it tells. */
class Road {
  readonly entries: TranscriptEntry[] = [];
  state: PageState = emptyState;
  messages = 0;
  private readonly appended = new Emitter<AppendedEntry>();
  private readonly streamed = new Emitter<StreamedEvent>();
  private readonly lives = new LiveTexts({ logger: silentLogger });
  private readonly task = makeTask({
    runs: [makeRun({ id: runId, status: { state: 'running', startedAt: at } })],
  });
  private readonly feed = new RunFeed(async ({ offset }) => ({
    entries: this.entries.slice(offset),
    problems: [],
    next: { offset: this.entries.length, lines: 0 },
    isEnd: true,
    isTorn: false,
  }));
  private readonly sync: PageSync;

  constructor() {
    this.lives.listen({
      onDidChangeTask: new Emitter<TaskChange>().event,
      onDidAppendEntry: this.appended.event,
      onDidStream: this.streamed.event,
    });
    const dispatch = (action: Parameters<typeof reduce>[1]): void => {
      this.messages += 1;
      this.state = reduce(this.state, action);
    };
    this.sync = new PageSync(
      {
        snapshot: (snapshot) => dispatch({ type: 'snapshot', snapshot }),
        append: (append) => dispatch({ type: 'append', append }),
        stream: (stream) => dispatch({ type: 'stream', stream }),
        facts: ({ runId: id, facts }) => dispatch({ type: 'facts', runId: id, facts }),
      },
      () => new Date(at),
    );
  }

  append(entry: NewEntry): void {
    const one = recorded(entry, this.entries.length);
    this.entries.push(one);
    this.appended.fire({ taskId: this.task.id, runId, entry: one });
  }

  say(text: string): void {
    this.streamed.fire({ taskId: this.task.id, runId, event: { type: 'text.delta', text } });
  }

  print(toolUseId: string, text: string): void {
    this.streamed.fire({ taskId: this.task.id, runId, event: { type: 'tool.output', toolUseId, text } });
  }

  async update(): Promise<void> {
    const [run] = this.task.runs;
    assert.ok(run);
    await this.sync.update(this.feed, () => ({
      task: this.task,
      run,
      pending: [],
      live: this.lives.of(runId),
    }));
  }

  reload(): void {
    this.state = emptyState;
    this.sync.requestSnapshot();
  }

  get liveText(): string {
    return this.state.live?.pieces.map(({ text }) => text).join('') ?? '';
  }
}

const begun: NewEntry = { type: 'message.started', turn: 1 };
const message = (text: string): NewEntry => ({
  type: 'message',
  turn: 1,
  model: 'm',
  content: [{ type: 'text', text }],
  stopReason: 'end_turn',
});

describe('The host beside its page', () => {
  it('sends a snapshot, then only what is new', async () => {
    const road = new Road();
    road.append({ type: 'note', code: 'c', text: 'one' });
    await road.update();
    assert.equal(road.state.entries.length, 1);
    road.append({ type: 'note', code: 'c', text: 'two' });
    await road.update();
    assert.equal(road.state.entries.length, 2);
    const sent = road.messages;
    await road.update();
    assert.equal(road.messages, sent, 'nothing new, nothing sent');
  });

  it('tells the text of an open message in the middle as well, to a page that was just loaded', async () => {
    const road = new Road();
    road.append(begun);
    road.say('Hello');
    await road.update();
    assert.equal(road.liveText, 'Hello');
    road.reload();
    road.say(' you');
    await road.update();
    assert.equal(road.liveText, 'Hello you');
    road.append(message('Hello you'));
    await road.update();
    assert.equal(road.liveText, '');
    assert.equal(road.state.needsSnapshot, false);
  });

  it('tells output of a tool whose id comes again', async () => {
    const road = new Road();
    for (const text of ['a long first output', 'second']) {
      road.append({ type: 'tool.started', turn: 1, toolUseId: 't', name: 'Bash', input: {} });
      road.print('t', text);
      await road.update();
      assert.equal(road.state.outputs.get('t')?.text, text);
      road.append({
        type: 'tool.ended',
        turn: 1,
        toolUseId: 't',
        name: 'Bash',
        content: text,
        isError: false,
        durationMs: 1,
      });
      await road.update();
      assert.equal(road.state.outputs.size, 0);
    }
  });

  it('whatever is written, streamed, reloaded and looked at in between, the page ends as the file is', async () => {
    const step = fc.oneof(
      fc.constant('begin' as const),
      fc.constant('end' as const),
      fc.constant('note' as const),
      fc.constant('say' as const),
      fc.constant('update' as const),
      fc.constant('reload' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const road = new Road();
        let said = '';
        let isOpen = false;
        for (const one of steps) {
          if (one === 'begin') {
            road.append(begun);
            said = '';
            isOpen = true;
          } else if (one === 'end') {
            road.append(message(said));
            isOpen = false;
          } else if (one === 'note') road.append({ type: 'note', code: 'c', text: 'n' });
          else if (one === 'reload') road.reload();
          else if (one === 'update') await road.update();
          else if (isOpen) {
            said += 'x';
            road.say('x');
          }
        }
        await road.update();
        assert.deepEqual(
          road.state.entries.map(({ entry }) => entry),
          road.entries,
        );
        assert.equal(road.state.needsSnapshot, false);
        assert.equal(road.liveText, isOpen ? said : '');
      }),
      { numRuns: process.env['TRIBUTARY_LONG'] === undefined ? 100 : 5_000 },
    );
  });

  it('finds text in what was read, whatever its case', async () => {
    const road = new Road();
    road.append(message('The Needle'));
    road.append({
      type: 'tool.started',
      turn: 1,
      toolUseId: 't',
      name: 'Bash',
      input: { command: 'grep needle' },
    });
    road.append({ type: 'note', code: 'needle', text: 'hay' });
    const feed = new RunFeed(async () => ({
      entries: road.entries,
      problems: [],
      next: { offset: 1, lines: 1 },
      isEnd: true,
      isTorn: false,
    }));
    await feed.catchUp();
    assert.deepEqual(await searchFeed(feed, 'nEEdle'), [0, 1]);
  });

  it('waits for a transcript that was not begun', async () => {
    const { TributaryError } = await import('../../../src/base/errors');
    const feed = new RunFeed(async () => {
      throw new TributaryError('unknownId', 'none');
    });
    await feed.catchUp();
    assert.equal(feed.revision, 0);
  });
});

describe('An entry on its way to the page', () => {
  const ended = (content: string): TranscriptEntry =>
    recorded(
      { type: 'tool.ended', turn: 1, toolUseId: 't', name: 'Read', content, isError: false, durationMs: 1 },
      0,
    );

  it('goes as it is while it is short', () => {
    const entry = ended('short');
    assert.deepEqual(shortenEntry(entry, 4), { index: 4, entry, isShortened: false });
  });

  it('loses the end of long text, never what says what it is', () => {
    const { entry, isShortened } = shortenEntry(ended('x'.repeat(100_000)), 0, 1_000);
    assert.equal(isShortened, true);
    assert.ok(entry.type === 'tool.ended' && typeof entry.content === 'string');
    assert.ok(entry.content.length <= 1_000);
    assert.deepEqual([entry.id, entry.toolUseId, entry.name], ['e1', 't', 'Read']);
  });

  it('is never cut in the middle of a character', () => {
    const { entry } = shortenEntry(ended('😀'.repeat(1_000)), 0, 301);
    assert.ok(entry.type === 'tool.ended' && typeof entry.content === 'string');
    assert.equal(Buffer.from(entry.content).toString(), entry.content);
  });

  it('is an entry still, whatever a model sent, and no longer than its measure allows', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 400 }), (input, budget) => {
        const entry = recorded({ type: 'tool.started', turn: 1, toolUseId: 't', name: 'X', input }, 0);
        const { entry: short } = shortenEntry(entry, 0, budget);
        assert.equal(entrySchema.safeParse(short).success, true);
      }),
    );
    const items = Array.from({ length: 5_000 }, (_, number) => `item ${number} ${'x'.repeat(300)}`);
    const long = recorded({ type: 'tool.started', turn: 1, toolUseId: 't', name: 'X', input: { items } }, 0);
    assert.ok(JSON.stringify(shortenEntry(long, 0, 10_000).entry).length < 20_000);
  });
});

describe('A place that an agent names', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary-places-')));
    await mkdir(join(folder, 'tree', 'src'), { recursive: true });
    await mkdir(join(folder, 'repo'));
    await writeFile(join(folder, 'tree', 'src', 'a.ts'), '');
    await writeFile(join(folder, 'repo', 'only.ts'), '');
    await writeFile(join(folder, 'secret'), '');
    await symlink(join(folder, 'secret'), join(folder, 'tree', 'link'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const kindOf = async (path: string): Promise<string> => {
    const task = makeTask();
    const packet = { ...task.packet, repository: { ...task.packet.repository, root: join(folder, 'repo') } };
    const place = await placeOf({ ...task, packet, worktreePath: join(folder, 'tree') }, path);
    return place.kind === 'file' ? place.path.slice(folder.length + 1) : place.kind;
  };

  it('is opened in the Worktree, relative or absolute, else in the checkout', async () => {
    assert.equal(await kindOf('src/a.ts'), 'tree/src/a.ts');
    assert.equal(await kindOf(join(folder, 'tree', 'src', 'a.ts')), 'tree/src/a.ts');
    assert.equal(await kindOf('only.ts'), 'repo/only.ts');
    assert.equal(await kindOf('gone.ts'), 'absent');
  });

  it('is not opened when it leads out, also by a link', async () => {
    assert.equal(await kindOf('../secret'), 'outside');
    assert.equal(await kindOf('/etc/passwd'), 'outside');
    assert.equal(await kindOf('link'), 'outside');
  });

  it('counts as inside by whole names', () => {
    assert.deepEqual(
      ['/a/b', '/a/b/c', '/a/bc', '/a', '/a/b/..x'].map((path) => contains('/a/b', path)),
      [true, true, false, false, true],
    );
  });
});

describe('A transcript as Markdown', () => {
  it('has everything that was said and done, with output in fences nothing can end', () => {
    const run = makeRun({ id: runId });
    const text = transcriptMarkdown(
      makeTask({ runs: [run] }),
      run,
      recordedTranscript([
        { type: 'user', origin: 'user', content: [{ type: 'text', text: 'Please' }] },
        begun,
        message('I **did** it.'),
        { type: 'tool.started', turn: 1, toolUseId: 't', name: 'Bash', input: { command: 'cat x' } },
        {
          type: 'tool.ended',
          turn: 1,
          toolUseId: 't',
          name: 'Bash',
          content: '````\n# no heading\u001b[31m\u202e',
          isError: true,
          exitCode: 2,
          durationMs: 5,
        },
        { type: 'message.cut', turn: 1, partialText: 'half', reason: 'user' },
      ]),
    );
    assert.match(text, /^# do it\n/);
    assert.match(text, /## User\n\n```text\nPlease\n```/);
    assert.match(text, /## Agent\n\nI \*\*did\*\* it\./);
    assert.match(text, /### Bash\n\n```text\ncat x\n```/);
    assert.match(text, /Result \(failed, exit code 2, 5 ms\):\n\n`````text\n````\n# no heading\n`````/);
    assert.match(text, /half\n\n\*Cut off: user\*/);
  });
});
