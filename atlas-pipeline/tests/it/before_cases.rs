//! The runs that lie below `before/`, and what is to be said of each.

use atlas_core::{BuildFailureClass, OracleOutcome};

use BuildFailureClass::{BrokenTest, Environment, MissingSymbol};
use OracleOutcome::{EnvironmentInvalid, Instance, NoEvidence, RejectAfterBroken};

/// A case: its folder, the verdict, why the module fails, the symbol with the patch line that brings
/// it, and the log line that proves it.
pub(crate) type Row = (
    &'static str,
    OracleOutcome,
    BuildFailureClass,
    Option<(&'static str, usize, &'static str)>,
    (usize, &'static str),
);

pub(crate) const CASES: &[Row] = &[
    (
        "c/broken_test",
        Instance,
        BrokenTest,
        None,
        (
            15,
            "/testbed/tests/test_sums.c:6:5: error: expected ‘,’ or ‘;’ before ‘return’",
        ),
    ),
    (
        "c/changed_signature",
        Instance,
        MissingSymbol,
        Some(("halve", 10, "sums.c: +int halve(int amount, int up)")),
        (
            9,
            "/testbed/tests/test_halve.c:5:12: error: too many arguments to function ‘halve’",
        ),
    ),
    (
        "c/environment",
        NoEvidence,
        Environment,
        None,
        (9, "/usr/bin/ld: cannot find -lm: No such file or directory"),
    ),
    (
        "c/environment_disk",
        NoEvidence,
        Environment,
        None,
        (
            8,
            "/testbed/tests/test_halve.c:6:1: fatal error: closing dependency file CMakeFiles/test_halve.dir/test",
        ),
    ),
    (
        "c/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (
            17,
            "/testbed/tests/test_zip.c:1:10: fatal error: ledger-zip/zip.h: No such file or directory",
        ),
    ),
    (
        "c/missing_header",
        Instance,
        MissingSymbol,
        Some(("rates", 5, "rates.h: new file")),
        (
            11,
            "/testbed/tests/test_new.c:2:10: fatal error: rates.h: No such file or directory",
        ),
    ),
    (
        "c/missing_link",
        Instance,
        MissingSymbol,
        Some(("carry", 10, "sums.c: +int carry(int amount, int brought)")),
        (13, "test_new.c:(.text+0xf): undefined reference to `carry'"),
    ),
    (
        "c/missing_member",
        Instance,
        MissingSymbol,
        Some(("note", 9, "sums.h: +    int note;")),
        (
            12,
            "/testbed/tests/test_new.c:6:8: error: ‘struct entry’ has no member named ‘note’",
        ),
    ),
    (
        "c/missing_symbol",
        Instance,
        MissingSymbol,
        Some(("LEDGER_START", 22, "sums.h: +#define LEDGER_START 1")),
        (
            15,
            "/testbed/tests/test_new.c:6:27: error: ‘LEDGER_START’ undeclared (first use in this function)",
        ),
    ),
    (
        "cpp/changed_signature",
        Instance,
        MissingSymbol,
        Some((
            "convert",
            9,
            "rates.hpp: +inline int convert(int amount, int rate = 1) { return amount * rate; }",
        )),
        (
            12,
            "/testbed/tests/test_rates.cpp:5:27: error: too many arguments to function ‘int ledger::convert(int)’",
        ),
    ),
    (
        "cpp/missing_symbol",
        Instance,
        MissingSymbol,
        Some((
            "convert",
            12,
            "rates.hpp: +inline int convert(int amount, int rate) { return amount * rate; }",
        )),
        (
            12,
            "/testbed/tests/test_rates.cpp:5:20: error: ‘convert’ is not a member of ‘ledger’",
        ),
    ),
    (
        "go/broken_import",
        Instance,
        BrokenTest,
        None,
        (2, "sums/ghost_test.go:6:5: undefined: Ghost"),
    ),
    (
        "go/broken_test",
        Instance,
        BrokenTest,
        None,
        (2, "sums/sums_test.go:7:11: expected '{', found newline"),
    ),
    (
        "go/changed_signature",
        Instance,
        MissingSymbol,
        Some((
            "Total",
            15,
            "sums/sums.go: +func Total(entries []Entry, start int) int {",
        )),
        (
            2,
            "sums/sums_test.go:6:46: too many arguments in call to Total",
        ),
    ),
    (
        "go/declared_package",
        Instance,
        MissingSymbol,
        Some((
            "example.com/rates",
            10,
            "go.mod: +require example.com/rates v0.0.0",
        )),
        (
            2,
            "text/rates_test.go:6:2: cannot find module providing package example.com/rates: import lookup disabl",
        ),
    ),
    (
        "go/environment",
        NoEvidence,
        Environment,
        None,
        (
            1,
            "internal/abi: write /small/go-build2398474046/b006/_pkg_.a: no space left on device",
        ),
    ),
    (
        "go/environment_cgo",
        EnvironmentInvalid,
        Environment,
        None,
        (
            5,
            "example.com/songs/tags: exec: \"pkg-config\": executable file not found in $PATH",
        ),
    ),
    (
        "go/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (
            3,
            "sums/remote_test.go:6:2: cannot find module providing package github.com/example-org/assertions: imp",
        ),
    ),
    (
        "go/missing_field",
        Instance,
        MissingSymbol,
        Some(("Note", 9, "sums/sums.go: +	Note   string")),
        (
            5,
            "sums/sums_test.go:12:31: unknown field Note in struct literal of type struct{Amount int}",
        ),
    ),
    (
        "go/missing_method",
        Instance,
        MissingSymbol,
        Some((
            "Positive",
            16,
            "sums/sums.go: +func (e Entry) Positive() bool { return e.Amount > 0 }",
        )),
        (
            2,
            "sums/sums_test.go:12:25: (Entry{…}).Positive undefined (type Entry has no field or method Positive)",
        ),
    ),
    (
        "go/missing_symbol",
        Instance,
        MissingSymbol,
        Some((
            "Carry",
            11,
            "sums/sums.go: +func Carry(entries []Entry, brought int) int {",
        )),
        (3, "sums/sums_test.go:12:5: undefined: Carry"),
    ),
    (
        "java/broken_import",
        RejectAfterBroken,
        BrokenTest,
        None,
        (
            25,
            "[ERROR] /testbed/src/test/java/demo/GhostTest.java:[8,19] cannot find symbol",
        ),
    ),
    (
        "java/broken_test",
        RejectAfterBroken,
        BrokenTest,
        None,
        (
            25,
            "[ERROR] /testbed/src/test/java/demo/SumsTest.java:[10,48] ';' expected",
        ),
    ),
    (
        "java/changed_signature",
        Instance,
        MissingSymbol,
        Some((
            "trim",
            11,
            "src/main/java/demo/Sums.java: +    public String trim(String text, char what) {",
        )),
        (
            25,
            "[ERROR] /testbed/src/test/java/demo/MoreTest.java:[10,37] method trim in class demo.Sums cannot be a",
        ),
    ),
    (
        "java/environment",
        NoEvidence,
        Environment,
        None,
        (
            13,
            "[ERROR] Failed to execute goal on project ledger: Could not resolve dependencies for project demo:le",
        ),
    ),
    (
        "java/environment_disk",
        NoEvidence,
        Environment,
        None,
        (
            17,
            "[ERROR] /testbed/src/main/java/demo/Sums.java:[3,8] error while writing demo.Sums: No space left on ",
        ),
    ),
    (
        "java/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (
            25,
            "[ERROR] /testbed/src/test/java/demo/MockTest.java:[4,19] package org.mockito does not exist",
        ),
    ),
    (
        "java/missing_class",
        Instance,
        MissingSymbol,
        Some((
            "Rates",
            9,
            "src/main/java/demo/Rates.java: +public final class Rates {",
        )),
        (38, "[ERROR]   symbol:   variable Rates"),
    ),
    (
        "java/missing_package",
        Instance,
        MissingSymbol,
        Some(("rates", 5, "src/main/java/demo/rates/Rates.java: new file")),
        (
            25,
            "[ERROR] /testbed/src/test/java/demo/RatesTest.java:[5,18] package demo.rates does not exist",
        ),
    ),
    (
        "java/missing_symbol",
        Instance,
        MissingSymbol,
        Some((
            "carry",
            10,
            "src/main/java/demo/Sums.java: +    public int carry(int brought, int entry) {",
        )),
        (38, "[ERROR]   symbol:   method carry(int,int)"),
    ),
    (
        "javascript/broken_import",
        Instance,
        BrokenTest,
        None,
        (
            27,
            "Cannot find module '../src/ghost' from 'test/ghost.test.js'",
        ),
    ),
    (
        "javascript/broken_test",
        Instance,
        BrokenTest,
        None,
        (
            24,
            r#"SyntaxError: /testbed/test/sums.test.js: Unexpected token, expected "," (4:30)"#,
        ),
    ),
    (
        "javascript/environment",
        NoEvidence,
        Environment,
        None,
        (4, "Cannot find module 'pads' from 'src/text.js'"),
    ),
    (
        "javascript/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (27, "Cannot find module 'nock' from 'test/remote.test.js'"),
    ),
    (
        "javascript/missing_export",
        Instance,
        MissingSymbol,
        Some((
            "carry",
            7,
            "src/sums.mjs: +export const carry = (entries, brought) => brought + total(entries);",
        )),
        (
            5,
            "SyntaxError: The requested module '../src/sums.mjs' does not provide an export named 'carry'",
        ),
    ),
    (
        "javascript/missing_export_nodetest",
        Instance,
        MissingSymbol,
        Some((
            "carry",
            7,
            "src/sums.mjs: +export const carry = (entries, brought) => brought + total(entries);",
        )),
        (
            10,
            "SyntaxError: The requested module '../src/sums.mjs' does not provide an export named 'carry'",
        ),
    ),
    (
        "javascript/missing_module",
        Instance,
        MissingSymbol,
        Some(("rates", 5, "src/rates.js: new file")),
        (
            4,
            "Cannot find module '../src/rates' from 'test/rates.test.js'",
        ),
    ),
    (
        "python/broken_import",
        Instance,
        BrokenTest,
        None,
        (
            17,
            "E   ImportError: cannot import name 'ghost' from 'ledger.sums' (/testbed/ledger/sums.py)",
        ),
    ),
    (
        "python/broken_test",
        Instance,
        BrokenTest,
        None,
        (33, "E   SyntaxError: invalid syntax"),
    ),
    (
        "python/changed_signature",
        Instance,
        MissingSymbol,
        Some(("start", 8, "ledger/sums.py: +def total(entries, start=0):")),
        (
            12,
            "E   TypeError: total() got an unexpected keyword argument 'start'",
        ),
    ),
    (
        "python/environment",
        NoEvidence,
        Environment,
        None,
        (
            21,
            "E   ImportError: libsqlite3.so.0: cannot open shared object file: No such file or directory",
        ),
    ),
    (
        "python/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (18, "E   ModuleNotFoundError: No module named 'requests'"),
    ),
    (
        "python/missing_attribute",
        Instance,
        MissingSymbol,
        Some(("LARGEST", 6, "ledger/sums.py: +LARGEST = 1 << 40")),
        (
            13,
            "E   AttributeError: module 'ledger.sums' has no attribute 'LARGEST'",
        ),
    ),
    (
        "python/missing_module",
        Instance,
        MissingSymbol,
        Some(("rates", 5, "ledger/rates.py: new file")),
        (
            18,
            "E   ModuleNotFoundError: No module named 'ledger.rates'",
        ),
    ),
    (
        "python/missing_symbol",
        Instance,
        MissingSymbol,
        Some(("carry", 10, "ledger/sums.py: +def carry(entries, brought):")),
        (
            17,
            "E   ImportError: cannot import name 'carry' from 'ledger.sums' (/testbed/ledger/sums.py)",
        ),
    ),
    (
        "ruby/broken_test",
        RejectAfterBroken,
        BrokenTest,
        None,
        (5, "SyntaxError:"),
    ),
    (
        "ruby/environment",
        NoEvidence,
        Environment,
        None,
        (8, "cannot load such file -- json/pure"),
    ),
    (
        "ruby/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (9, "cannot load such file -- webmock_of_ledger"),
    ),
    (
        "ruby/missing_file",
        Instance,
        MissingSymbol,
        Some(("rates", 5, "lib/ledger/rates.rb: new file")),
        (9, "cannot load such file -- ledger/rates"),
    ),
    (
        "ruby/missing_method",
        Instance,
        MissingSymbol,
        Some(("largest", 10, "lib/ledger.rb: +  def self.largest")),
        (11, "undefined method `largest' for Ledger:Module"),
    ),
    (
        "ruby/missing_symbol",
        Instance,
        MissingSymbol,
        Some(("Rates", 10, "lib/ledger.rb: +  module Rates")),
        (11, "uninitialized constant Ledger::Rates"),
    ),
    (
        "rust/broken_import",
        Instance,
        BrokenTest,
        None,
        (10, "error[E0432]: unresolved import `ledger::ghost`"),
    ),
    (
        "rust/broken_test",
        Instance,
        BrokenTest,
        None,
        (10, "error: mismatched closing delimiter: `}`"),
    ),
    (
        "rust/changed_signature",
        Instance,
        MissingSymbol,
        Some((
            "total",
            11,
            "src/lib.rs: +pub fn total(entries: &[Entry], start: i64) -> i64 {",
        )),
        (
            10,
            "error[E0061]: this function takes 1 argument but 2 arguments were supplied",
        ),
    ),
    (
        "rust/declared_package",
        Instance,
        MissingSymbol,
        Some(("rates", 26, r#"Cargo.toml: +rates = { path = "rates" }"#)),
        (
            19,
            "error[E0433]: cannot find module or crate `rates` in this scope",
        ),
    ),
    (
        "rust/environment",
        NoEvidence,
        Environment,
        None,
        (2, "error: linker `cc` not found"),
    ),
    (
        "rust/environment_disk",
        NoEvidence,
        Environment,
        None,
        (
            7,
            "collect2: fatal error: ld terminated with signal 7 [Bus error]",
        ),
    ),
    (
        "rust/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (10, "error[E0432]: unresolved import `serde_json`"),
    ),
    (
        "rust/missing_field",
        Instance,
        MissingSymbol,
        Some(("note", 10, "src/lib.rs: +    pub note: String,")),
        (
            10,
            "error[E0560]: struct `ledger::Entry` has no field named `note`",
        ),
    ),
    (
        "rust/missing_method",
        Instance,
        MissingSymbol,
        Some((
            "is_positive",
            17,
            "src/lib.rs: +    pub fn is_positive(&self) -> bool {",
        )),
        (
            10,
            "error[E0599]: no method named `is_positive` found for struct `ledger::Entry` in the current scope",
        ),
    ),
    (
        "rust/missing_module",
        Instance,
        MissingSymbol,
        Some(("rates", 8, "src/lib.rs: +pub mod rates;")),
        (10, "error[E0433]: cannot find `rates` in `ledger`"),
    ),
    (
        "rust/missing_symbol",
        Instance,
        MissingSymbol,
        Some((
            "carry",
            11,
            "src/lib.rs: +pub fn carry(entries: &[Entry], brought: i64) -> i64 {",
        )),
        (10, "error[E0432]: unresolved import `ledger::carry`"),
    ),
    (
        "typescript/broken_test",
        Instance,
        BrokenTest,
        None,
        (
            32,
            "test/plain.test.ts:2:12 - error TS1351: An identifier or keyword cannot immediately follow a numeric",
        ),
    ),
    (
        "typescript/changed_signature",
        Instance,
        MissingSymbol,
        Some((
            "total",
            11,
            "src/sums.ts: +export function total(entries: Entry[], start = 0): number {",
        )),
        (
            4,
            "test/sums.test.ts:8:20 - error TS2554: Expected 1 arguments, but got 2.",
        ),
    ),
    (
        "typescript/environment",
        NoEvidence,
        Environment,
        None,
        (
            4,
            "test/sums.test.ts:3:1 - error TS2593: Cannot find name 'test'. Do you need to install type definitio",
        ),
    ),
    (
        "typescript/environment_new_test",
        EnvironmentInvalid,
        Environment,
        None,
        (
            24,
            "test/remote.test.ts:1:18 - error TS2307: Cannot find module 'nock' or its corresponding type declara",
        ),
    ),
    (
        "typescript/missing_property",
        Instance,
        MissingSymbol,
        Some(("note", 8, "src/sums.ts: +  note?: string;")),
        (
            4,
            "test/sums.test.ts:9:16 - error TS2339: Property 'note' does not exist on type 'Entry'.",
        ),
    ),
    (
        "typescript/missing_symbol",
        Instance,
        MissingSymbol,
        Some((
            "carry",
            10,
            "src/sums.ts: +export function carry(entries: Entry[], brought: number): number {",
        )),
        (
            4,
            r#"test/sums.test.ts:1:10 - error TS2305: Module '"../src/sums"' has no exported member 'carry'."#,
        ),
    ),
];
