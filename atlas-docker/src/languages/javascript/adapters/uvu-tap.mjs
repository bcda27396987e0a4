// The same for tests that are modules: their uvu is made the one that was prepared.
import './uvu-tap.cjs';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

try {
  const require = createRequire(`${process.cwd()}/`);
  const url = JSON.stringify(pathToFileURL(require.resolve('uvu')).href);
  const hook = `export async function resolve(name, context, next) {
    return name === 'uvu' ? { url: ${url}, format: 'commonjs', shortCircuit: true } : next(name, context);
  }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
} catch (_) {
  // Without uvu there is nothing to prepare.
}
