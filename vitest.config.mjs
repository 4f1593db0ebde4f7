import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['labextension/tests/**/*.spec.{ts,tsx}'],
    testTimeout: 5000
  }
});
