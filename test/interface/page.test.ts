import { describe, expect, it } from 'vitest';
import { FIELDS } from './fields.js';
import { interfacePage, partOf } from './page.js';
import { PARTS } from './parts.js';
import { partReferences, partsNamed } from './references.js';
import { STATEMENTS } from './statements.js';

const parts = PARTS.map(({ id }) => id);

describe('the page of the interface', () => {
  it('is docs/interface.md', async () => {
    await expect(interfacePage(PARTS, STATEMENTS, FIELDS)).toMatchFileSnapshot('../../docs/interface.md');
  });

  it('has a section for the part of every statement', () => {
    expect(STATEMENTS.map(({ id }) => id).filter((id) => !parts.includes(partOf(id)))).toEqual([]);
  });

  it('has fields for statements that exist only', () => {
    const ids = STATEMENTS.map(({ id }) => id);
    expect(Object.keys(FIELDS).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('a reference to a part of the interface', () => {
  it('leads to a section of the page, wherever it stands in code and documents', () => {
    const references = partReferences();
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter(({ part }) => !parts.includes(part))).toEqual([]);
  });

  it('is found alone, in a list, and across the lines of a comment', () => {
    expect(partsNamed('see part 6.1. Then parts 2, 4.1 and 5.4')).toEqual(['6.1', '2', '4.1', '5.4']);
    expect(partsNamed('/**\n * The stream of part\n * 6.2\n */')).toEqual(['6.2']);
  });
});
