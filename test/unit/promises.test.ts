import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = process.env['TRIBUTARY_ROOT'] ?? '';

describe('promises that are waited for together', () => {
  // One that fails while another part of the list is still being awaited has no handler: it ends the process.
  it('are all begun before the first of them is awaited', async () => {
    const names = await readdir(join(root, 'src'), { recursive: true });
    const found: string[] = [];
    for (const name of names.filter((one) => /\.tsx?$/.test(one))) {
      found.push(...awaitsInLists(name, await readFile(join(root, 'src', name), 'utf8')));
    }
    assert.deepEqual(found, []);
  });

  it('are found where one is awaited inside the list', () => {
    assert.deepEqual(awaitsInLists('x.ts', '\nawait Promise.all([a([1]), g(await b())]);'), ['x.ts:2']);
    assert.deepEqual(awaitsInLists('x.ts', 'await allOf([a(), b()]); await c();'), []);
  });
});

/** Where an `await` stands in the list that is given to `Promise.all` and its like, as file and line. */
function awaitsInLists(name: string, text: string): string[] {
  const found: string[] = [];
  for (const { index, 0: call } of text.matchAll(/(?:Promise\.\w+|allOf)\(\[/g)) {
    const list = text.slice(index + call.length, endOfList(text, index + call.length));
    if (/\bawait\b/.test(list)) found.push(`${name}:${text.slice(0, index).split('\n').length}`);
  }
  return found;
}

function endOfList(text: string, start: number): number {
  let open = 1;
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '[') open += 1;
    if (sign === ']') open -= 1;
    if (open === 0) return at;
  }
  return text.length;
}
