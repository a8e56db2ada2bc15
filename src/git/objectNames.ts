/** The object name that stands for "there is none", as long as `like`. */
export function zeroName(like: string): string {
  return '0'.repeat(like.length);
}
