import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityProblems } from './axe.js';

/** That no panel failed, nothing is wider than the window, and axe-core finds nothing. */
export async function expectSound(page: Page): Promise<void> {
  expect(await page.locator('.failure:visible').allInnerTexts()).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await accessibilityProblems(page)).toEqual([]);
}

/** The same page in the other theme, at 360 pixels. */
export async function narrowInOtherTheme(page: Page, height = 900): Promise<void> {
  await page.setViewportSize({ width: 360, height });
  await page.keyboard.press('t');
}
