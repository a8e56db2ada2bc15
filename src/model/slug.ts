const maxLength = 40;

/** The first words of an objective as `[a-z0-9-]`, at most 40 characters, whole words where that is possible; may be empty. */
export function slugOf(objective: string): string {
  const words = objective
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  let slug = '';
  for (const word of words) {
    const next = slug === '' ? word.slice(0, maxLength) : `${slug}-${word}`;
    if (next.length > maxLength) break;
    slug = next;
  }
  return slug;
}
