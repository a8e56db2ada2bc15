import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { FrameLocator } from 'playwright-core';
import * as z from 'zod';
import { entrySchema } from '../../../src/model/transcript';
import { RowBuilder } from '../../../webview-ui/rows';

const rowsSchema = z.array(z.object({ key: z.string(), position: z.number(), of: z.number() }));

/** The keys of every row of a transcript page, in order, by going through it from its first row to its last. */
export async function shownRows(page: FrameLocator): Promise<string[]> {
  const list = page.locator('.list');
  const found = new Map<number, string>();
  let count = Number.POSITIVE_INFINITY;
  await list.evaluate((element) => element.scrollTo(0, 0));
  while (found.size < count) {
    const shown = rowsSchema.parse(
      await list.locator('article').evaluateAll((rows) =>
        rows.map((row) => ({
          key: row.getAttribute('data-key'),
          position: Number(row.getAttribute('aria-posinset')),
          of: Number(row.getAttribute('aria-setsize')),
        })),
      ),
    );
    for (const { key, position, of } of shown) {
      found.set(position, key);
      // -1 while what came before is not loaded.
      count = of < 0 ? Number.POSITIVE_INFINITY : of;
    }
    await list.evaluate((element) => element.scrollBy(0, element.clientHeight / 2));
  }
  return [...found].sort(([a], [b]) => a - b).map(([, key]) => key);
}

/** The keys of the rows that the transcript file of a Run that has ended comes to. */
export async function rowsOfFile(path: string): Promise<string[]> {
  const [, ...lines] = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  const entries = lines.map((line) => entrySchema.parse(JSON.parse(line)));
  const rows = new RowBuilder().build(entries.map((entry, index) => ({ index, entry, isShortened: false })));
  // The state the Run ended in is told by a row of its own.
  assert.equal(rows.at(-1)?.kind, 'state');
  return [...rows.slice(0, -1).map(({ key }) => key), 'end'];
}
