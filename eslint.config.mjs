import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

import translated from './labextension/translated.mjs';

export default defineConfig(
  globalIgnores(['labextension/lib/', 'labextension/dist/']),
  {
    files: ['labextension/**/*.{ts,tsx}'],
    extends: [
      eslint.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked
    ],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      curly: 'error',
      eqeqeq: 'error',
      // The contract's `{ [key: string]: unknown }` names what the key is; `Record` does not.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      // Numbers are what most of our sentences are about, and have one obvious form.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true }
      ]
    }
  },
  {
    files: ['labextension/src/core/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['@jupyterlab/*', '@lumino/*', 'react', '../*/**'],
              message: 'core/ is plain TypeScript: it takes these from outside.'
            }
          ]
        }
      ]
    }
  },
  {
    files: ['labextension/src/**'],
    ignores: [
      // Generated.
      'labextension/src/contract.ts',
      'labextension/src/core/runOptions.ts',
      'labextension/src/core/secretNames.ts',
      // They write HTML, and code of a kernel's; not in the page's language.
      'labextension/src/core/plainForms.ts',
      'labextension/src/core/dragged.ts'
    ],
    plugins: { acai: translated },
    rules: { 'acai/sayable': 'error', 'acai/untranslated': 'error' }
  },
  {
    files: ['labextension/style/*.js', 'labextension/*.mjs'],
    extends: [eslint.configs.recommended]
  }
);
