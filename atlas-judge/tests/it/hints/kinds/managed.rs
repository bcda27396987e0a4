//! Go, Rust, Java and C#.

use super::check;

#[test]
fn go() {
    check(
        "table.go",
        "table_test.go",
        "package table\n",
        &[
            (
                "function",
                "package table\n",
                "package table\n\nfunc Pad(cell string, n ...int) (string, error) {\n\treturn cell, nil\n}\n",
                "func TestA(t *testing.T) { Pad(\"a\") }",
                &["`func Pad(cell string, n ...int) (string, error)`"],
            ),
            (
                "method",
                "package table\n",
                "package table\n\nfunc (c *Cell) Width() int {\n\treturn c.w\n}\n",
                "func TestA(t *testing.T) { cell.Width() }",
                &["`func (c *Cell) Width() int` in `Cell`"],
            ),
            (
                "structure",
                "package table\n",
                "package table\n\ntype Cell struct {\n\tw int\n}\n",
                "func TestA(t *testing.T) { f(Cell{}) }",
                &["`type Cell struct`"],
            ),
            (
                "field",
                "package table\n\ntype Cell struct {\n\tw int\n}\n",
                "package table\n\ntype Cell struct {\n\tw int\n\tWide bool `json:\"wide\"` // Why.\n}\n",
                "func TestA(t *testing.T) { f(Cell{Wide: true}) }",
                &["`Wide bool` in `Cell`"],
            ),
            (
                "interface",
                "package table\n",
                "package table\n\ntype Padder interface {\n\tPad() int\n}\n",
                "var p Padder = f()",
                &["`type Padder interface`"],
            ),
            (
                "method of an interface",
                "package table\n\ntype Padder interface {\n\tPad() int\n}\n",
                "package table\n\ntype Padder interface {\n\tPad() int\n\tUnpad(a string) error\n}\n",
                "func TestA(t *testing.T) { p.Unpad(\"a\") }",
                &["`Unpad(a string) error` in `Padder`"],
            ),
            (
                "named type",
                "package table\n",
                "package table\n\ntype Align int\n",
                "var a Align = f()",
                &["`type Align int`"],
            ),
            (
                "constants",
                "package table\n",
                "package table\n\nconst (\n\tLeft Align = iota\n\tRight\n)\n",
                "func TestA(t *testing.T) { f(Left, Right) }",
                &["`Left Align`", "`Right`"],
            ),
            (
                "variable",
                "package table\n",
                "package table\n\nvar ErrWide = errors.New(\"too wide\")\n",
                "func TestA(t *testing.T) { f(ErrWide) }",
                &["`ErrWide`"],
            ),
            (
                "function in a variable",
                "package table\n",
                "package table\n\nvar Pad = func(a string) string {\n\treturn a\n}\n",
                "func TestA(t *testing.T) { Pad(\"a\") }",
                &["`var Pad = func(a string) string`"],
            ),
            (
                "generic function",
                "package table\n",
                "package table\n\nfunc Map[T any](a []T) []T {\n\treturn a\n}\n",
                "func TestA(t *testing.T) { Map([]int{1}) }",
                &["`func Map[T any](a []T) []T`"],
            ),
        ],
    );
}

#[test]
fn rust() {
    check(
        "src/table.rs",
        "tests/table.rs",
        "use table::*;\n",
        &[
            (
                "function",
                "use x;\n",
                "use x;\n/// Why.\n#[must_use]\npub const fn pad(cell: u8) -> u8 {\n    cell\n}\n",
                "#[test]\nfn t() { pad(1); }",
                &["`pub const fn pad(cell: u8) -> u8`"],
            ),
            (
                "method",
                "impl Cell {\n}\n",
                "impl Cell {\n    pub fn width(&self) -> u8 {\n        self.w\n    }\n}\n",
                "#[test]\nfn t() { cell.width(); }",
                &["`pub fn width(&self) -> u8` in `Cell`"],
            ),
            (
                "associated function",
                "impl Cell {\n}\n",
                "impl Cell {\n    pub fn of(w: u8) -> Self {\n        Self { w }\n    }\n}\n",
                "#[test]\nfn t() { Cell::of(1); }",
                &["`pub fn of(w: u8) -> Self` in `Cell`"],
            ),
            (
                "structure",
                "use x;\n",
                "use x;\npub struct Cell<T> {\n    w: T,\n}\n",
                "#[test]\nfn t() { let c: Cell<u8> = f(); }",
                &["`pub struct Cell<T>`"],
            ),
            (
                "field",
                "pub struct Cell {\n    w: u8,\n}\n",
                "pub struct Cell {\n    w: u8,\n    pub wide: Option<Duration>, // Why.\n}\n",
                "#[test]\nfn t() { f(cell.wide, Duration::ZERO, Option::None); }",
                &["`pub wide: Option<Duration>` in `Cell`"],
            ),
            (
                "enumerator",
                "pub enum Align {\n    Left,\n}\n",
                "pub enum Align {\n    Left,\n    Right(u8),\n}\n",
                "#[test]\nfn t() { f(Align::Right(1)); }",
                &["`Right(u8)` in `Align`"],
            ),
            (
                "trait",
                "use x;\n",
                "use x;\npub trait Pad {\n    fn pad(&self);\n}\n",
                "struct Fake;\nimpl Pad for Fake {\n    fn pad(&self) {}\n}",
                &["`pub trait Pad`", "`fn pad(&self)` in `Pad`"],
            ),
            (
                "method of a trait",
                "pub trait Pad {\n    fn a(&self);\n}\n",
                "pub trait Pad {\n    fn a(&self);\n    fn pad(&self) -> u8 {\n        1\n    }\n}\n",
                "#[test]\nfn t() { cell.pad(); }",
                &["`fn pad(&self) -> u8` in `Pad`"],
            ),
            (
                "type alias",
                "use x;\n",
                "use x;\npub type Cells = Vec<Cell>;\n",
                "#[test]\nfn t() { let c: Cells = f(); }",
                &["`pub type Cells`"],
            ),
            (
                "constant",
                "use x;\n",
                "use x;\npub const LIMIT: usize = 30;\n",
                "#[test]\nfn t() { f(LIMIT); }",
                &["`pub const LIMIT: usize`"],
            ),
            (
                "macro",
                "use x;\n",
                "use x;\n#[macro_export]\nmacro_rules! pad {\n    ($a:expr) => { $a };\n}\n",
                "#[test]\nfn t() { pad!(1); }",
                &["`macro_rules! pad`"],
            ),
            (
                "export",
                "use x;\n",
                "use x;\npub use cells::{Cell, Wide as Broad};\n",
                "#[test]\nfn t() { f(Broad::new()); }",
                &["`Broad`"],
            ),
        ],
    );
}

#[test]
fn java() {
    let class = "class Cell {\n  int a;\n}\n";
    check(
        "src/main/java/Cell.java",
        "src/test/java/CellTest.java",
        "class CellTest {}\n",
        &[
            (
                "method",
                class,
                "class Cell {\n  int a;\n  public int width(int b) throws Wide {\n    return b;\n  }\n}\n",
                "class A { void t() { cell.width(1); } }",
                &["`public int width(int b) throws Wide` in `Cell`"],
            ),
            (
                "static method with an annotation",
                class,
                "class Cell {\n  int a;\n  @Deprecated\n  static <T> Cell of(T b) {\n    return null;\n  }\n}\n",
                "class A { void t() { Cell.of(1); } }",
                &["`@Deprecated static <T> Cell of(T b)` in `Cell`"],
            ),
            (
                "constructor",
                class,
                "class Cell {\n  int a;\n  Cell(int width) {\n    a = width;\n  }\n}\n",
                "class A { void t() { new Cell(1); } }",
                &["`Cell(int width)` in `Cell`"],
            ),
            (
                "field",
                class,
                "class Cell {\n  int a;\n  public static final Map<String, Integer> WIDE = new HashMap<>();\n}\n",
                "class A { void t() { f(Cell.WIDE, new HashMap<String, Integer>()); } }",
                &["`public static final Map<String, Integer> WIDE` in `Cell`"],
            ),
            (
                "class",
                class,
                "class Cell {\n  int a;\n}\nfinal class Wide<T> extends Cell {\n  int b;\n}\n",
                "class A { void t() { new Wide<String>(); } }",
                &["`final class Wide<T> extends Cell`"],
            ),
            (
                "interface",
                class,
                "class Cell {\n  int a;\n}\ninterface Padder {\n  int b = 1;\n}\n",
                "class A implements Padder {}",
                &["`interface Padder`"],
            ),
            (
                "method of an interface",
                "interface Padder {\n  int b = 1;\n}\n",
                "interface Padder {\n  int b = 1;\n  int pad(String a);\n}\n",
                "class A { void t() { p.pad(\"a\"); } }",
                &["`int pad(String a)` in `Padder`"],
            ),
            (
                "enumerator",
                "enum Align {\n  LEFT\n}\n",
                "enum Align {\n  LEFT,\n  RIGHT(2)\n}\n",
                "class A { void t() { f(Align.RIGHT); } }",
                &["`RIGHT` in `Align`"],
            ),
            (
                "record",
                class,
                "class Cell {\n  int a;\n}\nrecord Wide(int b) {}\n",
                "class A { void t() { new Wide(1).b(); } }",
                &["`record Wide(int b)`", "`b` in `Wide`"],
            ),
            (
                "annotation",
                class,
                "class Cell {\n  int a;\n}\n@interface Wide {\n  int b() default 1;\n}\n",
                "@Wide(b = 2) class A {}",
                &["`@interface Wide`", "`int b()` in `Wide`"],
            ),
        ],
    );
}

#[test]
fn csharp() {
    let class = "class Cell\n{\n    int a;\n}\n";
    check(
        "src/Cell.cs",
        "tests/CellTests.cs",
        "class CellTests { }\n",
        &[
            (
                "method",
                class,
                "class Cell\n{\n    int a;\n    public int Width(int b = 1)\n    {\n        return b;\n    }\n}\n",
                "class A { void T() { cell.Width(); } }",
                &["`public int Width(int b = 1)` in `Cell`"],
            ),
            (
                "method with an arrow",
                class,
                "class Cell\n{\n    int a;\n    public int Width(int b) => b;\n}\n",
                "class A { void T() { cell.Width(1); } }",
                &["`public int Width(int b)` in `Cell`"],
            ),
            (
                "extension",
                class,
                "class Cell\n{\n    int a;\n    public static int Width(this Other o, int b) { return b; }\n}\n",
                "class A { void T() { other.Width(1); } }",
                &["`public static int Width(this Other o, int b)` in `Cell`"],
            ),
            (
                "property",
                class,
                "class Cell\n{\n    int a;\n    public bool Wide { get; set; } = true;\n}\n",
                "class A { void T() { F(cell.Wide); } }",
                &["`public bool Wide` in `Cell`"],
            ),
            (
                "property with code",
                class,
                "class Cell\n{\n    int a;\n    public bool Wide => a > 1;\n}\n",
                "class A { void T() { F(cell.Wide); } }",
                &["`public bool Wide` in `Cell`"],
            ),
            (
                "field",
                class,
                "class Cell\n{\n    int a;\n    public const int Limit = 30;\n}\n",
                "class A { void T() { F(Cell.Limit); } }",
                &["`public const int Limit` in `Cell`"],
            ),
            (
                "constructor",
                class,
                "class Cell\n{\n    int a;\n    public Cell(int width) { a = width; }\n}\n",
                "class A { void T() { new Cell(1); } }",
                &["`public Cell(int width)` in `Cell`"],
            ),
            (
                "event",
                class,
                "class Cell\n{\n    int a;\n    public event EventHandler Widened;\n}\n",
                "class A { void T() { cell.Widened += F; } }",
                &["`public event EventHandler Widened` in `Cell`"],
            ),
            (
                "class",
                class,
                "class Cell\n{\n    int a;\n}\npublic sealed class Wide<T> : Cell where T : new()\n{\n    int b;\n}\n",
                "class A { void T() { new Wide<int>(); } }",
                &["`public sealed class Wide<T> : Cell where T : new()`"],
            ),
            (
                "structure",
                class,
                "class Cell\n{\n    int a;\n}\nstruct Wide\n{\n    int b;\n}\n",
                "class A { void T() { F(new Wide()); } }",
                &["`struct Wide`"],
            ),
            (
                "interface",
                class,
                "class Cell\n{\n    int a;\n}\ninterface IWide\n{\n}\n",
                "class A : IWide { }",
                &["`interface IWide`"],
            ),
            (
                "record",
                class,
                "class Cell\n{\n    int a;\n}\nrecord Wide(int Broad);\n",
                "class A { void T() { F(new Wide(1).Broad); } }",
                &["`Broad` in `Wide`", "`record Wide(int Broad)`"],
            ),
            (
                "enumerator",
                "enum Align\n{\n    Left,\n}\n",
                "enum Align\n{\n    Left,\n    Right = 2,\n}\n",
                "class A { void T() { F(Align.Right); } }",
                &["`Right` in `Align`"],
            ),
            (
                "delegate",
                class,
                "class Cell\n{\n    int a;\n}\npublic delegate int Padder(string a);\n",
                "class A { Padder p; }",
                &["`public delegate int Padder(string a)`"],
            ),
        ],
    );
}
