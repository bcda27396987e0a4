//! JavaScript and TypeScript.

use super::check;

#[test]
fn javascript() {
    check(
        "lib/table.js",
        "test/table.test.js",
        "import * as t from '../lib/table.js';\n",
        &[
            (
                "function",
                "const a = 1;\n",
                "const a = 1;\nexport function pad(cell, { fill } = {}) {\n  return cell;\n}\n",
                "it('x', () => { t.pad('a'); });",
                &["`function pad(cell, { fill } = {})`"],
            ),
            (
                "arrow function",
                "const a = 1;\n",
                "const a = 1;\nexport const pad = (cell) => cell;\n",
                "it('x', () => { t.pad('a'); });",
                &["`export const pad = (cell)`"],
            ),
            (
                "function of exports",
                "const a = 1;\n",
                "const a = 1;\nexports.pad = function (cell) {\n  return cell;\n};\n",
                "it('x', () => { t.pad('a'); });",
                &["`exports.pad = function (cell)` in `exports`"],
            ),
            (
                "method of a prototype",
                "const a = 1;\n",
                "const a = 1;\nCell.prototype.width = function (cell) {\n  return cell;\n};\n",
                "it('x', () => { cell.width('a'); });",
                &["`Cell.prototype.width = function (cell)` in `Cell.prototype`"],
            ),
            (
                "class",
                "const a = 1;\n",
                "const a = 1;\nexport class Cell extends Base {\n  b = 2;\n}\n",
                "it('x', () => { new t.Cell(); });",
                &["`class Cell extends Base`"],
            ),
            (
                "constructor",
                "class Cell {\n  a = 1;\n}\n",
                "class Cell {\n  a = 1;\n  constructor(width) {\n    this.w = width;\n  }\n}\n",
                "it('x', () => { new t.Cell(3); });",
                &["`constructor(width)` in `Cell`"],
            ),
            (
                "getter",
                "class Cell {\n  a = 1;\n}\n",
                "class Cell {\n  a = 1;\n  get width() {\n    return this.w;\n  }\n}\n",
                "it('x', () => { f(cell.width); });",
                &["`get width()` in `Cell`"],
            ),
            (
                "static method",
                "class Cell {\n  a = 1;\n}\n",
                "class Cell {\n  a = 1;\n  static of(text) {\n    return new Cell();\n  }\n}\n",
                "it('x', () => { t.Cell.of('a'); });",
                &["`static of(text)` in `Cell`"],
            ),
            (
                "field",
                "class Cell {\n  a = 1;\n}\n",
                "class Cell {\n  a = 1;\n  wide = true;\n}\n",
                "it('x', () => { f(cell.wide); });",
                &["`wide` in `Cell`"],
            ),
            (
                "own property",
                "class Cell {\n  constructor() {\n    f();\n  }\n}\n",
                "class Cell {\n  constructor() {\n    f();\n    this.wide = true;\n  }\n}\n",
                "it('x', () => { f(cell.wide); });",
                &["`wide` in `Cell`"],
            ),
            (
                "constant",
                "const a = 1;\n",
                "const a = 1;\nexport const LIMIT = 30;\n",
                "it('x', () => { f(t.LIMIT); });",
                &["`LIMIT`"],
            ),
            (
                "export of what was there",
                "const a = 1;\nfunction pad(b) {}\n",
                "const a = 1;\nfunction pad(b) {}\nexport { pad };\n",
                "it('x', () => { t.pad(2); });",
                &["`pad`"],
            ),
            (
                "key of exports",
                "const a = 1;\nfunction pad(b) {}\nmodule.exports = {\n  a,\n};\n",
                "const a = 1;\nfunction pad(b) {}\nmodule.exports = {\n  a,\n  pad,\n};\n",
                "it('x', () => { t.pad(2); });",
                &["`pad`"],
            ),
        ],
    );
    check(
        "lib/table.js",
        "test/table.test.js",
        "const a = 1;\n",
        &[
            (
                "default function",
                "const a = 1;\n",
                "const a = 1;\nexport default function (cell) {\n  return cell;\n}\n",
                "import pad from '../lib/table.js';\nit('x', () => { pad('a'); });",
                &["its default export, `export default function (cell)`"],
            ),
            (
                "default class",
                "const a = 1;\n",
                "const a = 1;\nexport default class Cell extends Base {\n  b = 2;\n}\n",
                "import Cell from '../lib/table';\nit('x', () => { new Cell(); });",
                &["its default export, `class Cell extends Base`"],
            ),
            (
                "default value",
                "const a = 1;\n",
                "const a = 1;\nexport default { a };\n",
                "import table from '../lib/table';\nit('x', () => { f(table); });",
                &["its default export"],
            ),
            (
                "module.exports",
                "const a = 1;\n",
                "const a = 1;\nmodule.exports = function pad(cell) {\n  return cell;\n};\n",
                "const pad = require('../lib/table');\nit('x', () => { pad(1); });",
                &["its default export, `module.exports = function pad(cell)`"],
            ),
        ],
    );
}

#[test]
fn typescript() {
    check(
        "src/table.ts",
        "test/table.test.ts",
        "import * as t from '../src/table';\n",
        &[
            (
                "function",
                "const a = 1;\n",
                "const a = 1;\nexport function pad(cell: string): string {\n  return cell;\n}\n",
                "it('x', () => { t.pad('a'); });",
                &["`function pad(cell: string): string`"],
            ),
            (
                "interface",
                "const a = 1;\n",
                "const a = 1;\nexport interface Options {\n  b: string;\n}\n",
                "const o: t.Options = f();",
                &["`interface Options`"],
            ),
            (
                "interface loaded as a type",
                "const a = 1;\n",
                "const a = 1;\nexport interface Options {\n  b: string;\n}\n",
                "import type { Options } from '../src/table';",
                &["`interface Options`"],
            ),
            (
                "member of an interface",
                "interface Options {\n  b: string;\n}\n",
                "interface Options {\n  b: string;\n  fill?: string; // Why.\n}\n",
                "t.pad('a', { fill: 'b' });",
                &["`fill?: string` in `Options`"],
            ),
            (
                "type alias",
                "const a = 1;\n",
                "const a = 1;\nexport type Align = 'left' | 'right';\n",
                "const o: t.Align = f();",
                &["`type Align`"],
            ),
            (
                "enumeration",
                "const a = 1;\n",
                "const a = 1;\nexport enum Align {\n  Left,\n  Right = 'r',\n}\n",
                "f(t.Align.Left, t.Align.Right);",
                &["`enum Align`", "`Left` in `Align`", "`Right` in `Align`"],
            ),
            (
                "abstract class",
                "const a = 1;\n",
                "const a = 1;\nexport abstract class Cell<T> {\n  b = 1;\n}\n",
                "class A extends t.Cell<string> {}",
                &["`abstract class Cell<T>`"],
            ),
            (
                "parameter property",
                "class Cell {\n  a = 1;\n}\n",
                "class Cell {\n  a = 1;\n  constructor(readonly wide: boolean) {}\n}\n",
                "f(cell.wide);",
                &["`readonly wide: boolean` in `Cell`"],
            ),
            (
                "constant",
                "const a = 1;\n",
                "const a = 1;\nexport const LIMIT: number = 30;\n",
                "f(t.LIMIT);",
                &["`LIMIT: number`"],
            ),
            (
                "export from elsewhere",
                "const a = 1;\n",
                "const a = 1;\nexport { pad as padCell } from './pad';\n",
                "t.padCell('a');",
                &["`padCell`"],
            ),
            (
                "namespace",
                "const a = 1;\n",
                "const a = 1;\nexport namespace Cells {\n  export function pad(a: number) {\n    return a;\n  }\n}\n",
                "t.Cells.pad(1);",
                &["`function pad(a: number)` in `Cells`"],
            ),
        ],
    );
    check(
        "src/table.ts",
        "test/table.test.ts",
        "const a = 1;\n",
        &[(
            "default export",
            "const a = 1;\n",
            "const a = 1;\nexport default function pad(cell: string) {\n  return cell;\n}\n",
            "import pad from '../src/table';\npad('a');",
            &["its default export, `function pad(cell: string)`"],
        )],
    );
}
