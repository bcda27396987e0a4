//! C and C++.

use super::check;

#[test]
fn c() {
    check(
        "table.h",
        "tests/table.c",
        "#include \"table.h\"\n",
        &[
            (
                "prototype",
                "int a;\n",
                "int a;\n/* Why. */\nextern char *pad(const char *cell /* in */, int n);\n",
                "void t(void) { pad(\"a\", 1); }",
                &["`extern char *pad(const char *cell , int n)`"],
            ),
            (
                "inline function",
                "int a;\n",
                "int a;\nstatic inline int pad(int n) {\n  return n;\n}\n",
                "void t(void) { pad(1); }",
                &["`static inline int pad(int n)`"],
            ),
            (
                "macro",
                "int a;\n",
                "int a;\n#define LIMIT 30\n#define PAD(x) ((x) + 1)\n",
                "void t(void) { f(PAD(LIMIT)); }",
                &["`LIMIT`", "`#define PAD(x)`"],
            ),
            (
                "structure",
                "int a;\n",
                "int a;\nstruct cell {\n  int wide;\n};\n",
                "void t(void) { struct cell c; f(c.wide); }",
                &["`struct cell`", "`int wide` in `cell`"],
            ),
            (
                "named structure",
                "int a;\n",
                "int a;\ntypedef struct cell_s {\n  int wide;\n} cell_t;\n",
                "void t(void) { cell_t c; f(c.wide); }",
                &[
                    "`typedef struct cell_s { … } cell_t`",
                    "`int wide` in `cell_s`",
                ],
            ),
            (
                "enumerators",
                "int a;\n",
                "int a;\nenum align { LEFT, RIGHT = 2 };\n",
                "void t(void) { f(RIGHT); }",
                &["`RIGHT` in `align`"],
            ),
            (
                "named type",
                "int a;\n",
                "int a;\ntypedef int (*padder)(int);\n",
                "void t(void) { padder p; }",
                &["`typedef int (*padder)(int)`"],
            ),
            (
                "variable",
                "int a;\n",
                "int a;\nextern const int limit;\n",
                "void t(void) { f(limit); }",
                &["`extern const int limit`"],
            ),
        ],
    );
}

#[test]
fn cpp() {
    let class = "class Cell {\n public:\n  int a;\n};\n";
    check(
        "include/table.hpp",
        "test/table.cpp",
        "#include \"table.hpp\"\n",
        &[
            (
                "function",
                "int a;\n",
                "int a;\ntemplate <typename T>\nT pad(T cell, int n = 1) {\n  return cell;\n}\n",
                "void t() { pad(1); }",
                &["`template <typename T> T pad(T cell, int n = 1)`"],
            ),
            (
                "method",
                class,
                "class Cell {\n public:\n  int a;\n  int width() const noexcept { return a; }\n};\n",
                "void t() { cell.width(); }",
                &["`int width() const noexcept` in `Cell`"],
            ),
            (
                "declared method",
                class,
                "class Cell {\n public:\n  int a;\n  virtual int width(int b) = 0;\n};\n",
                "void t() { cell.width(1); }",
                &["`virtual int width(int b) = 0` in `Cell`"],
            ),
            (
                "constructor",
                class,
                "class Cell {\n public:\n  int a;\n  explicit Cell(int width) : a(width) {}\n};\n",
                "void t() { Cell c(1); }",
                &["`explicit Cell(int width)` in `Cell`"],
            ),
            (
                "field",
                class,
                "class Cell {\n public:\n  int a;\n  static constexpr int limit = 30;\n};\n",
                "void t() { f(Cell::limit); }",
                &["`static constexpr int limit` in `Cell`"],
            ),
            (
                "class",
                "int a;\n",
                "int a;\nclass Wide final : public Cell {\n  int b;\n};\n",
                "void t() { Wide w; }",
                &["`class Wide final : public Cell`"],
            ),
            (
                "scoped enumeration",
                "int a;\n",
                "int a;\nenum class Align : char { Left, Right };\n",
                "void t() { f(Align::Right); }",
                &["`enum class Align : char`", "`Right` in `Align`"],
            ),
            (
                "alias",
                "int a;\n",
                "int a;\nusing Cells = std::vector<Cell>;\n",
                "void t() { Cells c; }",
                &["`using Cells`"],
            ),
            (
                "constant",
                "int a;\n",
                "int a;\ninline constexpr std::size_t limit = 30;\n",
                "void t() { f(limit, std::size_t{1}); }",
                &["`inline constexpr std::size_t limit`"],
            ),
            (
                "name from elsewhere",
                "int a;\n",
                "int a;\nnamespace t {\nusing other::pad;\n}\n",
                "void t() { t::pad(1); }",
                &["`pad` in `t`"],
            ),
        ],
    );
}
