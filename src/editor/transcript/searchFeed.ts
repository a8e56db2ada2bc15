import { holds } from '../../protocol/searchText';
import type { RunFeed } from './runFeed';

/** Entries looked through before others get their turn. */
const searchedAtOnce = 2_000;

/** Indices of the entries that hold `query`, oldest first. */
export async function searchFeed(feed: RunFeed, query: string): Promise<number[]> {
  const hits: number[] = [];
  for (let index = 0; index < feed.entries.length; index += 1) {
    const entry = feed.entries[index];
    if (entry !== undefined && holds(entry, query)) hits.push(index);
    if (index % searchedAtOnce === searchedAtOnce - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return hits;
}
