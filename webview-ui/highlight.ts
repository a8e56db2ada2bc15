const mostRanges = 1_000;

/** Marks `query` in what is drawn of the list, without touching its elements. */
export function highlight(root: Element | null, query: string): void {
  if (typeof Highlight === 'undefined') return;
  const ranges = root === null || query === '' ? [] : rangesOf(root, query.toLowerCase());
  CSS.highlights.set('find', new Highlight(...ranges));
}

function rangesOf(root: Element, query: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < mostRanges; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + query.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
