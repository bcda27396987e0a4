//! Python, Ruby and PHP.

use super::check;

#[test]
fn python() {
    check(
        "pkg/table.py",
        "tests/test_table.py",
        "import pkg\n",
        &[
            (
                "function",
                "A = 1\n",
                "A = 1\n\n\ndef pad(cell, *, fill=' '):\n    return cell\n",
                "def test():\n    pkg.pad('a')",
                &["`def pad(cell, *, fill=' ')`"],
            ),
            (
                "async function",
                "A = 1\n",
                "A = 1\n\n\nasync def pad(cell):\n    return cell\n",
                "async def test():\n    await pkg.pad('a')",
                &["`async def pad(cell)`"],
            ),
            (
                "class",
                "A = 1\n",
                "A = 1\n\n\nclass Cell(Base):\n    x = 2\n",
                "def test():\n    pkg.Cell()",
                &["`class Cell(Base)`"],
            ),
            (
                "constructor",
                "class Cell:\n    pass\n",
                "class Cell:\n    def __init__(self, width):\n        self._w = width\n",
                "def test():\n    pkg.Cell(3)",
                &["`def __init__(self, width)` in `Cell`"],
            ),
            (
                "property",
                "class Cell:\n    pass\n",
                "class Cell:\n    @property\n    def width(self):\n        return self._w\n",
                "def test(cell):\n    assert cell.width == 3",
                &["`@property def width(self)` in `Cell`"],
            ),
            (
                "cached property",
                "class Cell:\n    pass\n",
                "class Cell:\n    @functools.cached_property\n    def width(self) -> int:\n        return self._w\n",
                "def test(cell):\n    assert cell.width == 3",
                &["`@functools.cached_property def width(self) -> int` in `Cell`"],
            ),
            (
                "classmethod",
                "class Cell:\n    pass\n",
                "class Cell:\n    @classmethod\n    def of(cls, text):\n        return cls()\n",
                "def test():\n    pkg.Cell.of('a')",
                &["`@classmethod def of(cls, text)` in `Cell`"],
            ),
            (
                "staticmethod",
                "class Cell:\n    pass\n",
                "class Cell:\n    @staticmethod\n    # Why.\n    def of(text):\n        return Cell()\n",
                "def test():\n    pkg.Cell.of('a')",
                &["`@staticmethod def of(text)` in `Cell`"],
            ),
            (
                "constant",
                "A = 1\n",
                "A = 1\nLIMIT: int = 30\n",
                "def test():\n    assert pkg.LIMIT",
                &["`LIMIT: int`"],
            ),
            (
                "class attribute",
                "class Cell:\n    pass\n",
                "class Cell:\n    wide = True\n",
                "def test(cell):\n    assert cell.wide",
                &["`wide` in `Cell`"],
            ),
            (
                "enumerator",
                "class Align(Enum):\n    LEFT = 1\n",
                "class Align(Enum):\n    LEFT = 1\n    RIGHT = 2\n",
                "def test():\n    assert pkg.Align.RIGHT",
                &["`RIGHT` in `Align`"],
            ),
            (
                "instance attribute",
                "class Cell:\n    def __init__(self):\n        pass\n",
                "class Cell:\n    def __init__(self):\n        self.wide = True\n",
                "def test(cell):\n    assert cell.wide",
                &["`wide` in `Cell`"],
            ),
            (
                "keyword",
                "def pad(cell):\n    return cell\n",
                "def pad(cell, fill=' '):\n    return cell\n",
                "def test():\n    pkg.pad('a', fill='-')",
                &["`def pad(cell, fill=' ')`"],
            ),
            (
                "type alias",
                "A = 1\n",
                "A = 1\nPair = tuple[int, int]\n",
                "def test(pair: pkg.Pair):\n    pass",
                &["`Pair`"],
            ),
            (
                "comment among the parameters",
                "A = 1\n",
                "A = 1\n\n\ndef pad(\n    cell,  # the gold one\n    # and why\n    fill,\n):\n    return cell\n",
                "def test():\n    pkg.pad('a', 'b')",
                &["`def pad( cell, fill, )`"],
            ),
        ],
    );
    check(
        "pkg/__init__.py",
        "tests/test_table.py",
        "import pkg\n",
        &[(
            "export",
            "A = 1\n",
            "A = 1\nfrom .cells import Cell\n",
            "def test():\n    pkg.Cell()",
            &["`Cell`"],
        )],
    );
}

#[test]
fn ruby() {
    check(
        "lib/table.rb",
        "test/table_test.rb",
        "require 'table'\n",
        &[
            (
                "method",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  def width(a, b: 2)\n    a\n  end\nend\n",
                "def test_a\n  @cell.width(1)\nend",
                &["`def width(a, b: 2)` in `Cell`"],
            ),
            (
                "predicate",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  def wide?\n    true\n  end\nend\n",
                "def test_a\n  assert @cell.wide?\nend",
                &["`def wide?` in `Cell`"],
            ),
            (
                "writer",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  def width=(a)\n    @a = a\n  end\nend\n",
                "def test_a\n  @cell.width = 3\nend",
                &["`def width=(a)` in `Cell`"],
            ),
            (
                "singleton method",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  def self.parse(text)\n    new\n  end\nend\n",
                "def test_a\n  Cell.parse('a')\nend",
                &["`def self.parse(text)` in `Cell`"],
            ),
            (
                "method of the singleton class",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  class << self\n    def parse(text)\n      new\n    end\n  end\nend\n",
                "def test_a\n  Cell.parse('a')\nend",
                &["`def parse(text)` in `Cell`"],
            ),
            (
                "class",
                "A = 1\n",
                "A = 1\nclass Cell < Base\n  def x; 1; end\nend\n",
                "def test_a\n  Cell.new\nend",
                &["`class Cell < Base`"],
            ),
            (
                "module",
                "A = 1\n",
                "A = 1\nmodule Cells\n  def x; 1; end\nend\n",
                "def test_a\n  extend Cells\nend",
                &["`module Cells`"],
            ),
            (
                "constant",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  LIMIT = 30\nend\n",
                "def test_a\n  assert Cell::LIMIT\nend",
                &["`LIMIT` in `Cell`"],
            ),
            (
                "accessor",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  attr_accessor :wide, :high\nend\n",
                "def test_a\n  assert @cell.wide\nend",
                &["`wide` in `Cell`"],
            ),
            (
                "alias",
                "class Cell\n  def a; 1; end\nend\n",
                "class Cell\n  def a; 1; end\n  alias wide a\n  alias_method :broad, :a\nend\n",
                "def test_a\n  assert @cell.wide\n  assert @cell.broad\nend",
                &["`wide` in `Cell`", "`broad` in `Cell`"],
            ),
            (
                "constructor",
                "class Cell\n  A = 1\nend\n",
                "class Cell\n  A = 1\n  def initialize(width)\n    @w = width\n  end\nend\n",
                "def test_a\n  Cell.new(3)\nend",
                &["`def initialize(width)` in `Cell`"],
            ),
            (
                "struct",
                "A = 1\n",
                "A = 1\nCell = Struct.new(:wide)\n",
                "def test_a\n  assert Cell.new(3).wide\nend",
                &["`Cell`", "`wide`"],
            ),
        ],
    );
}

#[test]
fn php() {
    let class = "<?php\nclass Cell\n{\n    const A = 1;\n}\n";
    check(
        "src/Cell.php",
        "tests/CellTest.php",
        "<?php\n",
        &[
            (
                "function",
                "<?php\n$a = 1;\n",
                "<?php\n$a = 1;\nfunction pad(string $cell): string\n{\n    return $cell;\n}\n",
                "function testA() { pad('a'); }",
                &["`function pad(string $cell): string`"],
            ),
            (
                "method",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public function width(int $a = 1): int\n    {\n        return $a;\n    }\n}\n",
                "function testA($cell) { $cell->width(); }",
                &["`public function width(int $a = 1): int` in `Cell`"],
            ),
            (
                "static method",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public static function of(string $a): self\n    {\n        return new self();\n    }\n}\n",
                "function testA() { Cell::of('a'); }",
                &["`public static function of(string $a): self` in `Cell`"],
            ),
            (
                "constructor",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public function __construct(int $width)\n    {\n        $this->w = $width;\n    }\n}\n",
                "function testA() { new Cell(3); }",
                &["`public function __construct(int $width)` in `Cell`"],
            ),
            (
                "class",
                "<?php\n$a = 1;\n",
                "<?php\n$a = 1;\nfinal class Wide extends Cell\n{\n    const B = 1;\n}\n",
                "function testA() { new Wide(); }",
                &["`final class Wide extends Cell`"],
            ),
            (
                "interface",
                "<?php\n$a = 1;\n",
                "<?php\n$a = 1;\ninterface Wide\n{\n    const B = 1;\n}\n",
                "class Fake implements Wide {}",
                &["`interface Wide`"],
            ),
            (
                "trait",
                "<?php\n$a = 1;\n",
                "<?php\n$a = 1;\ntrait Wide\n{\n    private $b;\n}\n",
                "class Fake { use Wide; }",
                &["`trait Wide`"],
            ),
            (
                "enumeration",
                "<?php\n$a = 1;\n",
                "<?php\n$a = 1;\nenum Align: string\n{\n    case Left = 'l';\n}\n",
                "function testA() { f(Align::Left); }",
                &["`enum Align: string`", "`Left` in `Align`"],
            ),
            (
                "constant",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public const LIMIT = 30;\n}\n",
                "function testA() { f(Cell::LIMIT); }",
                &["`LIMIT` in `Cell`"],
            ),
            (
                "property",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public ?int $wide = 30;\n}\n",
                "function testA($cell) { f($cell->wide); }",
                &["`public ?int $wide` in `Cell`"],
            ),
            (
                "promoted property",
                class,
                "<?php\nclass Cell\n{\n    const A = 1;\n    public function __construct(public int $wide = 3) {}\n}\n",
                "function testA($cell) { f($cell->wide); }",
                &["`public int $wide` in `Cell`"],
            ),
        ],
    );
}
