/** Lower-case words of Latin letters and digits, joined by hyphens. */
export function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  const slug = plain.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return slug.replace(/^-+|-+$/g, '').slice(0, 80) || 'event';
}
