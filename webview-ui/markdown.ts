import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';
import { safe } from './safeText';

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false, maxNesting: 20 });
// An image would be a request to somewhere: its address is shown as a link instead.
markdown.disable('image');
markdown.validateLink = (url) => /^https?:\/\//i.test(url.trim());

// Headings of a model must not mix with those of the page: all are of one level, just below its own.
markdown.core.ruler.push('one_level', ({ tokens }) => {
  for (const token of tokens)
    if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = 'h2';
});

const allowedTags = [
  ...['p', 'br', 'hr', 'h2', 'blockquote', 'ul', 'ol', 'li'],
  ...['strong', 'em', 's', 'code', 'pre', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

/** Markdown of a model as elements that can be shown: no HTML of its own, no image, links to the web only. */
export function renderMarkdown(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markdown.render(text.replace(/\r\n/g, '\n')), {
    ALLOWED_TAGS: allowedTags,
    ALLOWED_ATTR: ['href', 'start'],
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  makeVisible(fragment);
  for (const link of fragment.querySelectorAll('a')) {
    // Where it really leads, whatever its text says.
    link.title = link.getAttribute('href') ?? '';
    link.rel = 'noreferrer noopener';
  }
  for (const box of fragment.querySelectorAll('pre, table')) makeScrollable(box);
  return fragment;
}

/** After rendering, since an entity such as `&#x202e;` becomes its character only there. */
function makeVisible(fragment: DocumentFragment): void {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.nodeValue ?? '';
    const shown = safe(text);
    if (shown !== text) node.nodeValue = shown;
  }
}

/** Wide content scrolls in a box of its own, by keyboard too. */
function makeScrollable(element: Element): void {
  const box = document.createElement('div');
  box.className = 'scroll-x';
  element.replaceWith(box);
  box.append(element);
}
