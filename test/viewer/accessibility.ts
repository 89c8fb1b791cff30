import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** What axe-core finds wrong in the page as it is drawn now. Its source comes through the browser's debugger, which the page's policy does not bind. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(`window.axe || (() => { ${axe.source} })()`);
  const violations = await page.evaluate<readonly Violation[]>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  );
}

/** That no panel failed, nothing is wider than the window, and axe-core finds nothing. */
export async function expectSound(page: Page): Promise<void> {
  expect(await page.locator('.failure:visible').allInnerTexts()).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await accessibilityProblems(page)).toEqual([]);
}

/** The same page in the other theme, at 360 pixels. */
export async function narrowInOtherTheme(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 900 });
  await page.keyboard.press('t');
}
