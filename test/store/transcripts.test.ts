import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { type FileOps, systemFileOps } from '../../src/base/atomicFile';
import { makeRunId } from '../../src/model/ids';
import { type NewEntry, startOfTranscript, type TranscriptPart } from '../../src/model/transcript';
import type { Store } from '../../src/store/store';
import { Board, HandClock, newHeader, someRun, someTask } from './boards';

const notesOf = ({ entries }: TranscriptPart): string[] =>
  entries.map((entry) => (entry.type === 'note' ? entry.text : entry.type));

const note = (text: string): NewEntry => ({ type: 'note', code: 'test', text });

describe('A transcript', () => {
  let board: Board;
  let store: Store;
  const clock = new HandClock();
  beforeEach(async () => {
    board = await Board.create();
    store = await board.open({ clock });
  });
  afterEach(() => board.remove());

  const file = (): string => store.transcripts.path(someTask, someRun);
  const runsNames = (): Promise<string[]> => readdir(board.path('tasks', someTask, 'runs'));

  async function begun(...texts: string[]): Promise<void> {
    const writer = await store.transcripts.create(newHeader());
    for (const text of texts) await writer.append(note(text));
    await writer.close();
  }

  async function textsRead(): Promise<string[]> {
    const { entries } = await store.transcripts.read(someTask, someRun);
    return entries.map((entry) => (entry.type === 'note' ? entry.text : entry.type));
  }

  it('begins with its header and chains its entries by id and parent', async () => {
    const writer = await store.transcripts.create(newHeader());
    const first = await writer.append(note('one'));
    const second = await writer.append(note('zwei ü\n'));
    await writer.close();
    assert.deepEqual(
      [first, second].map(({ id, parentId, at }) => ({ id, parentId, at })),
      [
        { id: 'e1', parentId: null, at: '2026-03-04T05:06:07.089Z' },
        { id: 'e2', parentId: 'e1', at: '2026-03-04T05:06:07.089Z' },
      ],
    );
    const transcript = await store.transcripts.read(someTask, someRun);
    assert.deepEqual(transcript, { header: newHeader(), entries: [first, second], problems: [] });
    assert.equal(file(), board.path('tasks', someTask, 'runs', `${someRun}.jsonl`));
  });

  it('is read in parts that go on where the last one ended', async () => {
    const writer = await store.transcripts.create(newHeader());
    await writer.append(note('one'));
    const first = await store.transcripts.readPart(someTask, someRun, startOfTranscript);
    assert.deepEqual(first.header, newHeader());
    assert.deepEqual(notesOf(first), ['one']);
    assert.equal(first.isEnd, true);
    const nothing = await store.transcripts.readPart(someTask, someRun, first.next);
    assert.deepEqual([nothing.header, notesOf(nothing), nothing.next], [undefined, [], first.next]);
    await writer.append(note('two'));
    await writer.append(note('three'));
    await writer.close();
    const second = await store.transcripts.readPart(someTask, someRun, first.next);
    assert.deepEqual([second.header, notesOf(second)], [undefined, ['two', 'three']]);
  });

  it('gives half a line only once it is whole, and names a damaged one by its line of the file', async () => {
    await begun('one');
    const first = await store.transcripts.readPart(someTask, someRun, startOfTranscript);
    const line = JSON.stringify({ ...note('ü two'), id: 'e2', parentId: 'e1', at: 'now' });
    const bytes = Buffer.from(`not json\n${line}\n`);
    await appendFile(file(), bytes.subarray(0, bytes.indexOf('ü') + 1));
    const half = await store.transcripts.readPart(someTask, someRun, first.next);
    assert.deepEqual([notesOf(half), half.isTorn], [[], true]);
    assert.deepEqual(half.problems, ['line 3 is left out: not JSON']);
    await appendFile(file(), bytes.subarray(bytes.indexOf('ü') + 1));
    const whole = await store.transcripts.readPart(someTask, someRun, half.next);
    assert.deepEqual([notesOf(whole), whole.isTorn, whole.problems], [['ü two'], false, []]);
  });

  it('in parts is the same as whole, also where a line is longer than a part', async () => {
    await begun('small', 'x'.repeat(1_500_000), 'y'.repeat(700_000), 'z'.repeat(700_000), 'end');
    const texts: string[] = [];
    let parts = 0;
    for (let from = startOfTranscript; ; parts += 1) {
      const part = await store.transcripts.readPart(someTask, someRun, from);
      texts.push(...notesOf(part));
      from = part.next;
      if (part.isEnd) break;
    }
    assert.ok(parts >= 1, 'there was more than one part');
    assert.deepEqual(texts, await textsRead());
  });

  it('has no parts before it was begun', async () => {
    const read = (): Promise<unknown> => store.transcripts.readPart(someTask, someRun, startOfTranscript);
    await assert.rejects(read(), { code: 'unknownId' });
    await mkdir(board.path('tasks', someTask, 'runs'), { recursive: true });
    await writeFile(file(), '{"v":1,"type":"hea');
    await assert.rejects(read(), { code: 'unknownId' });
  });

  it('is created once only', async () => {
    await begun('kept');
    await assert.rejects(store.transcripts.create(newHeader()), { code: 'wrongState' });
    assert.deepEqual(await textsRead(), ['kept']);
  });

  it('is unknown when it was never begun', async () => {
    await assert.rejects(store.transcripts.read(someTask, someRun), { code: 'unknownId' });
    await assert.rejects(store.transcripts.reopen(someTask, someRun), { code: 'unknownId' });
    await mkdir(board.path('tasks', someTask, 'runs'), { recursive: true });
    await writeFile(file(), '{"v":1,"type":"hea');
    await assert.rejects(store.transcripts.read(someTask, someRun), { code: 'unknownId' });
    assert.equal(await readFile(file(), 'utf8'), '{"v":1,"type":"hea');
  });

  it('gives header and blocks back in the order of their keys, so that a resume sends the same bytes', async () => {
    const system = [
      { text: 'first text, then type', type: 'text', cache_control: { ttl: '1h', type: 'ephemeral' } },
    ];
    const content = [{ signature: 's', thinking: 't', type: 'thinking' }];
    const writer = await store.transcripts.create(newHeader({ system }));
    await writer.append({ type: 'message', turn: 1, model: 'm', content, stopReason: 'end_turn' });
    await writer.close();
    const { header, entries } = await store.transcripts.read(someTask, someRun);
    assert.equal(JSON.stringify(header.system), JSON.stringify(system));
    const entry = entries[0];
    assert.equal(JSON.stringify(entry?.type === 'message' ? entry.content : []), JSON.stringify(content));
  });

  it('keeps the order of concurrent calls and writes each batch at once', async () => {
    let writes = 0;
    const ops: FileOps = {
      ...systemFileOps,
      open: async (path, flags, mode) => {
        const real = await systemFileOps.open(path, flags, mode);
        return {
          write: async (data, offset, length) => {
            if (path.endsWith('.jsonl')) writes += 1;
            return await real.write(data, offset, length);
          },
          sync: () => real.sync(),
          close: () => real.close(),
        };
      },
    };
    const counted = await board.open({ machine: { ops } });
    const writer = await counted.transcripts.create(newHeader());
    const texts = Array.from({ length: 500 }, (_, index) => `entry ${index}`);
    await Promise.all(texts.map((text) => writer.append(note(text))));
    await writer.close();
    assert.deepEqual(await textsRead(), texts);
    assert.equal(writes, 2, 'the header and one batch');
  });

  it('is written as it was when the call was made', async () => {
    const writer = await store.transcripts.create(newHeader());
    const content = [{ type: 'text', text: 'before' }];
    const appended = writer.append({ type: 'user', content, origin: 'user' });
    content.push({ type: 'text', text: 'after' });
    await appended;
    await writer.close();
    const { entries } = await store.transcripts.read(someTask, someRun);
    assert.deepEqual(entries[0]?.type === 'user' ? entries[0].content : [], [
      { type: 'text', text: 'before' },
    ]);
  });

  it('takes nothing after close, which waits for what is under way', async () => {
    const writer = await store.transcripts.create(newHeader());
    const last = writer.append(note('last'));
    const closed = writer.close();
    await assert.rejects(writer.append(note('late')), { code: 'wrongState' });
    await Promise.all([last, closed, writer.close()]);
    assert.deepEqual(await textsRead(), ['last']);
  });

  it('refuses an entry that could not be read again', async () => {
    const writer = await store.transcripts.create(newHeader());
    await assert.rejects(writer.append({ type: 'retry', attempt: 0, code: 'x', message: '', waitMs: 1 }), {
      code: 'internal',
    });
    await writer.append(note('goes on'));
    await writer.close();
    assert.deepEqual(await textsRead(), ['goes on']);
  });

  it('cuts a half last line and notes it', async () => {
    await begun('whole');
    await appendFile(file(), '{"id":"e2","parentId":"e1","type":"no');
    const { entries, problems } = await store.transcripts.read(someTask, someRun);
    assert.equal(entries.length, 1);
    assert.deepEqual(problems, ['line 3, the last one, is cut off']);
  });

  it('keeps a broken line in the middle out, notes it, and reads the rest', async () => {
    await begun('one');
    await appendFile(file(), 'garbage\n[]\n{"id":"e3"}\n');
    await appendFile(file(), '{"id":"e4","parentId":"e1","at":"x","type":"note","code":"c","text":"four"}\n');
    assert.deepEqual(await textsRead(), ['one', 'four']);
    assert.deepEqual((await store.transcripts.read(someTask, someRun)).problems, [
      'line 3 is left out: not JSON',
      'line 4 is left out: it is no entry',
      'line 5 is left out: it is no entry',
    ]);
  });

  it('keeps entries of a type it does not know out and notes them', async () => {
    await begun('one');
    await appendFile(file(), '{"id":"e7","parentId":"e1","at":"x","type":"hologram"}\n');
    await appendFile(file(), '{"id":"e8","parentId":"e7","at":"x","type":"note","code":1,"text":"four"}\n');
    assert.deepEqual((await store.transcripts.read(someTask, someRun)).problems, [
      'line 3 is left out: entries of type "hologram" are not known here',
      'line 4 is left out: "code" of its "note" is wrong',
    ]);
    const writer = await store.transcripts.reopen(someTask, someRun);
    const { id, parentId } = await writer.append(note('after'));
    await writer.close();
    assert.deepEqual({ id, parentId }, { id: 'e9', parentId: 'e8' });
  });

  it('is closed by moving half a last line beside it when it is reopened; no byte is lost', async () => {
    await begun('one');
    const torn = Buffer.concat([Buffer.from('{"text":"ü'), Buffer.from([0xe6, 0xbc])]);
    await appendFile(file(), torn);
    for (const text of ['two', 'three']) {
      const writer = await store.transcripts.reopen(someTask, someRun);
      await writer.append(note(text));
      await writer.close();
      if (text === 'two') await appendFile(file(), 'again');
    }
    const { entries, problems } = await store.transcripts.read(someTask, someRun);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      entries.map(({ id, parentId }) => [id, parentId]),
      [
        ['e1', null],
        ['e2', 'e1'],
        ['e3', 'e2'],
      ],
    );
    assert.deepEqual(await readFile(`${file()}.torn-1`), torn);
    assert.deepEqual(await readFile(`${file()}.torn-2`, 'utf8'), 'again');
  });

  it('goes on after a last line that only lacks its newline', async () => {
    await begun('one', 'two');
    await truncate(file(), (await readFile(file())).length - 1);
    assert.deepEqual(await textsRead(), ['one', 'two']);
    const writer = await store.transcripts.reopen(someTask, someRun);
    await writer.append(note('three'));
    await writer.close();
    assert.deepEqual(await textsRead(), ['one', 'two', 'three']);
    assert.deepEqual(await runsNames(), [`${someRun}.jsonl`]);
  });

  it('can be cut at any byte: what was whole is read, and it goes on from there', async () => {
    await begun('eins', 'zwei ü', 'drei 漢');
    const whole = await readFile(file());
    const headerEnd = whole.indexOf(0x0a);
    const step = process.env['TRIBUTARY_LONG'] === undefined ? 7 : 1;
    for (let size = whole.length; size > headerEnd; size -= step) {
      await writeFile(file(), whole.subarray(0, size));
      const before = await textsRead();
      const writer = await store.transcripts.reopen(someTask, someRun);
      await writer.append(note('more'));
      await writer.close();
      const { entries, problems } = await store.transcripts.read(someTask, someRun);
      assert.deepEqual(await textsRead(), [...before, 'more']);
      assert.deepEqual(problems, []);
      assert.equal(new Set(entries.map((entry) => entry.id)).size, entries.length);
    }
  });

  it('says which entries a full disk took, and goes on when there is room', async () => {
    let room = Number.POSITIVE_INFINITY;
    const ops: FileOps = {
      ...systemFileOps,
      open: async (path, flags, mode) => {
        const real = await systemFileOps.open(path, flags, mode);
        return {
          write: async (data, offset = 0, length = data.length) => {
            if (room <= 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
            const taken = Math.min(length, room);
            room -= taken;
            return await real.write(data, offset, taken);
          },
          sync: () => real.sync(),
          close: () => real.close(),
        };
      },
    };
    const poor = await board.open({ machine: { ops } });
    const writer = await poor.transcripts.create(newHeader());
    const line = (await readFile(file())).length;
    await writer.append(note('one'));
    room = Math.floor(((await readFile(file())).length - line) * 1.5);
    const results = await Promise.allSettled([writer.append(note('two')), writer.append(note('lost'))]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected'],
    );
    room = Number.POSITIVE_INFINITY;
    const last = await writer.append(note('three'));
    await writer.close();
    assert.deepEqual(await textsRead(), ['one', 'two', 'three']);
    assert.equal(last.parentId, 'e2');
    const { problems } = await store.transcripts.read(someTask, someRun);
    assert.deepEqual(problems, ['line 4 is left out: not JSON']);
  });

  it('leaves no file when its header does not fit on the disk', async () => {
    const failure = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    const ops: FileOps = {
      ...systemFileOps,
      open: async (path, flags, mode) => {
        const real = await systemFileOps.open(path, flags, mode);
        return { write: () => Promise.reject(failure), sync: () => real.sync(), close: () => real.close() };
      },
    };
    const poor = await board.open({ machine: { ops } });
    await assert.rejects(poor.transcripts.create(newHeader()), { code: 'diskFull' });
    assert.deepEqual(await runsNames(), []);
  });

  it('without a header is kept under another name and said', async () => {
    await begun('one');
    const bytes = await readFile(file());
    await writeFile(file(), Buffer.concat([Buffer.from('?'), bytes]));
    await assert.rejects(store.transcripts.read(someTask, someRun), {
      code: 'corruptFile',
      message: /first line/,
    });
    assert.deepEqual(await runsNames(), [`${someRun}.jsonl.corrupt-20260304T050607089`]);
  });

  it('of a newer version can be read and not be written', async () => {
    await begun('one');
    const text = await readFile(file(), 'utf8');
    await writeFile(file(), text.replace('{"v":1', '{"v":2'));
    const { problems } = await store.transcripts.read(someTask, someRun);
    assert.match(problems[0] ?? '', /version 2/);
    assert.deepEqual(await textsRead(), ['one']);
    await assert.rejects(store.transcripts.reopen(someTask, someRun), { code: 'newerStore' });
    await writeFile(file(), '{"v":3,"type":"scroll"}\n');
    await assert.rejects(store.transcripts.read(someTask, someRun), { code: 'newerStore' });
  });

  it('has its output written once, whole', async () => {
    await store.transcripts.writeOutput(someTask, someRun, 'SUMMARY: ü\n');
    await assert.rejects(store.transcripts.writeOutput(someTask, someRun, 'other'), { code: 'wrongState' });
    assert.deepEqual(await runsNames(), [`${someRun}.output.md`]);
    assert.equal(
      await readFile(board.path('tasks', someTask, 'runs', `${someRun}.output.md`), 'utf8'),
      'SUMMARY: ü\n',
    );
  });

  it('has a folder for outputs that is not made yet', async () => {
    assert.equal(
      store.transcripts.outDirectory(someTask, someRun),
      board.path('tasks', someTask, 'runs', `${someRun}.out`),
    );
    await assert.rejects(readdir(board.path()), { code: 'ENOENT' });
  });

  it('takes and gives 20,000 entries', async function () {
    this.timeout(60_000);
    const runId = makeRunId('20260102T030405006', 2);
    const writer = await store.transcripts.create(newHeader({ runId }));
    for (let index = 0; index < 20_000; index += 1)
      await writer.append(note(`entry ${index} ${'x'.repeat(200)}`));
    await writer.close();
    const { entries, problems } = await store.transcripts.read(someTask, runId);
    assert.equal(entries.length, 20_000);
    assert.deepEqual(problems, []);
    assert.equal(entries.at(-1)?.id, 'e20000');
  });
});
