import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more than two real servers at a time only makes every test slower.
    maxWorkers: 2,
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.cache/vitest.json' }]] : ['default'],
  },
});
