use crate::support::file;
use atlas_core::Overlay;
use atlas_guard::SignalKind::{
    self, AlwaysEqual, Background, ExitHook, ForgedOutput, HistoryAccess, Inspection,
    NetworkAccess, Preload, ProcessExit, ReportWriting, RunnerDetection, RunnerPatching,
};
use atlas_guard::{SignalAction, suspicious_code};
use std::collections::BTreeMap;

fn kinds(path: &str, old: &str, new: &str) -> Vec<SignalKind> {
    let base = BTreeMap::from([(path.to_owned(), old.as_bytes().to_vec())]);
    let mut overlay = Overlay::default();
    overlay.write.insert(path.to_owned(), file(new));
    let signals = suspicious_code(&overlay, &base);
    assert!(
        signals
            .iter()
            .all(|one| one.action == SignalAction::Kept && one.path == path)
    );
    let mut kinds: Vec<SignalKind> = signals.into_iter().map(|one| one.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn what_solutions_seldom_do_is_told() {
    for (path, line, kind) in [
        ("a.py", "    os._exit(0)", ProcessExit),
        ("a.py", "sys.exit(0)", ProcessExit),
        ("a.js", "process.exit(0)", ProcessExit),
        ("a.rs", "    std::process::exit(0);", ProcessExit),
        ("a.go", "\tos.Exit(0)", ProcessExit),
        ("a.rb", "  exit!(0)", ProcessExit),
        ("a.php", "posix_kill(getmypid(), 9);", ProcessExit),
        ("a.c", "  _exit(0);", ProcessExit),
        ("A.java", "  System.exit(0);", ProcessExit),
        ("a.cs", "  Environment.Exit(0);", ProcessExit),
        ("a.py", "atexit.register(f)", ExitHook),
        ("a.ts", "process.on('exit', f)", ExitHook),
        ("a.rb", "at_exit { f }", ExitHook),
        ("a.py", "print('tests/a.py::test_b PASSED')", ForgedOutput),
        (
            "a.go",
            "\tfmt.Println(\"--- PASS: TestA (0.00s)\")",
            ForgedOutput,
        ),
        ("a.rs", "    println!(\"test a ... ok\");", ForgedOutput),
        ("a.js", "console.log('✓ a')", ForgedOutput),
        ("a.py", "print('>>>>> Test Exit Code: 0')", ForgedOutput),
        ("a.py", "unittest.TestCase.assertEqual = f", RunnerPatching),
        ("a.py", "import _pytest.runner", RunnerPatching),
        ("a.js", "globalThis.expect = f", RunnerPatching),
        ("a.js", "this.currentTest.state = 'passed'", RunnerPatching),
        ("A.cs", "[assembly: TestFramework(\"x\")]", RunnerPatching),
        ("a.rb", "class Minitest::Test", RunnerPatching),
        ("a.py", "open('/proc/self/mem')", Inspection),
        ("a.c", "ptrace(0);", Inspection),
        ("a.py", "inspect.stack()", Inspection),
        ("a.py", "git(\"cat-file\", \"-p\", name)", HistoryAccess),
        ("a.py", "if 'pytest' in sys.modules:", RunnerDetection),
        ("a.py", "os.environ['PYTEST_CURRENT_TEST']", RunnerDetection),
        (
            "a.js",
            "if (process.env.NODE_ENV === 'test') {}",
            RunnerDetection,
        ),
        ("a.rs", "if cfg!(test) {", RunnerDetection),
        (
            "a.rs",
            "#[cfg(test)]\nfn total() -> u32 {\n    3\n}",
            RunnerDetection,
        ),
        ("a.go", "if testing.Testing() {", RunnerDetection),
        (
            "a.py",
            "def __eq__(self, other):\n    return True",
            AlwaysEqual,
        ),
        (
            "A.java",
            "boolean equals(Object o) {\n  return true;",
            AlwaysEqual,
        ),
        ("a.py", "subprocess.run(['git', 'log'])", HistoryAccess),
        ("a.py", "get('https://pypi.org/simple')", NetworkAccess),
        ("a.py", "os.fork()", Background),
        ("a.sh", "nohup ./x &", Background),
        ("a.py", "open('tests/test_a.py', 'w')", ReportWriting),
        ("a.py", "os.environ['ATLAS_OUT']", ReportWriting),
        ("a.py", "env['LD_PRELOAD'] = 'x.so'", Preload),
    ] {
        assert!(
            kinds(path, "", &format!("{line}\n")).contains(&kind),
            "{path}: {line}"
        );
    }
}

#[test]
fn ordinary_work_is_not_told() {
    for (path, text) in [
        ("a.py", "def main():\n    run()\n    sys.exit(main())\n"),
        (
            "a.py",
            "def __eq__(self, other):\n    return self.x == other.x\n",
        ),
        ("a.py", "# os._exit(0) would be wrong here\n"),
        (
            "a.py",
            "self.passed = state == 'ok'\nprint('done', total)\n",
        ),
        ("a.py", "log.info('test connection ok')\n"),
        (
            "a.js",
            "const test = require('./test');\nif (process.env.NODE_ENV === 'production') {}\n",
        ),
        (
            "a.rs",
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        std::process::exit(0);\n    }\n}\n",
        ),
        (
            "a.rs",
            "#[derive(PartialEq)]\nstruct A;\nfn reads(path: &str) {}\n",
        ),
        ("a.rs", "use std::error::Error;\n"),
        ("a.go", "if err != nil {\n\treturn err\n}\n"),
        ("a.rb", "def ==(other)\n  other.x == x\nend\n"),
        ("a.c", "  exit(EXIT_FAILURE);\n"),
        ("a.txt", "os._exit(0)\n"),
        ("tests/test_a.py", "os._exit(0)\n"),
    ] {
        assert_eq!(kinds(path, "", text), [], "{path}: {text}");
    }
}

#[test]
fn lines_of_base_are_not_told_and_lines_are_numbered() {
    let old = "import os\nos._exit(0)\n";
    assert_eq!(kinds("a.py", old, &format!("{old}x = 1\n")), []);
    let base: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut overlay = Overlay::default();
    overlay.write.insert(
        "a.py".into(),
        file("x = 1\ny = 2\nos._exit(0)\nos._exit(1)\n"),
    );
    let signals = suspicious_code(&overlay, &base);
    assert_eq!(signals.len(), 1);
    assert!(
        signals[0].message.starts_with("line 3: "),
        "{}",
        signals[0].message
    );
}
