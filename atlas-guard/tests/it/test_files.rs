use crate::support::{Case, case};
use atlas_guard::SignalKind::{NewTest, RunnerHook, Shadowing, TestFile};
use atlas_guard::SignalSeverity::{Info, Suspicious};
use atlas_guard::{SignalAction, SignalSeverity};

fn pytest() -> Case {
    case("pytest", "pytest")
        .base("django/test/client.py", "class Client:\n    pass\n")
        .base("shop/cart.py", "x = 1\n")
        .base("shop/test_plan.py", "def plan(x):\n    assert x\n")
        .base("shop/speed_test.py", "def measure():\n    return 1\n")
        .base(
            "shop/tests/test_cart.py",
            "def test_a():\n    assert 1\n\ndef test_b():\n    assert 2\n",
        )
        .base("shop/tests/data.json", "{}\n")
        .base("tests/helpers.py", "def same(a, b):\n    assert a == b\n")
        .base("tests/test_all.py", "def test_all():\n    pass\n")
}

#[test]
fn tests_of_base_are_restored() {
    let run = pytest()
        .remove("shop/tests/test_cart.py")
        .write("shop/tests/data.json", "{\"a\": 1}\n")
        .write("tests/helpers.py", "def same(a, b):\n    pass\n")
        .run();
    run.taken("shop/tests/test_cart.py", TestFile)
        .taken("shop/tests/data.json", TestFile)
        .taken("tests/helpers.py", TestFile);
    assert_eq!(run.signal("tests/helpers.py").severity, Suspicious);
    assert_eq!(
        run.signal("tests/helpers.py").action,
        SignalAction::Restored
    );
}

#[test]
fn a_test_that_only_grows_is_restored_without_suspicion() {
    let run = pytest()
        .write("shop/tests/test_cart.py", "def test_a():\n    assert 1\n\ndef test_b():\n    assert 2\n\ndef test_c():\n    assert 3\n")
        .run();
    run.taken("shop/tests/test_cart.py", TestFile);
    assert_eq!(
        run.signal("shop/tests/test_cart.py").severity,
        SignalSeverity::Info
    );
}

#[test]
fn code_that_only_sounds_like_tests_is_a_solution() {
    let run = pytest()
        .write("django/test/client.py", "class Client:\n    fixed = True\n")
        .write("shop/speed_test.py", "def measure():\n    return 2\n")
        .write("shop/test_plan.py", "def plan(x):\n    return x\n")
        .run();
    run.silent("django/test/client.py")
        .silent("shop/speed_test.py")
        .silent("shop/test_plan.py");
    let run = case("mocha", "mocha")
        .base(
            "lib/utils/test.js",
            "export function test(a) {\n  return assert(a);\n}\n",
        )
        .base("src/add/test.ts", "import { it } from 'vitest'\n")
        .write(
            "lib/utils/test.js",
            "export function test(a) {\n  return a;\n}\n",
        )
        .write("src/add/test.ts", "\n")
        .run();
    run.silent("lib/utils/test.js")
        .taken("src/add/test.ts", TestFile);
}

#[test]
fn own_tests_stay_unless_they_reach_beyond_themselves() {
    let run = pytest()
        .write("tests/test_own.py", "def test_own():\n    assert True\n")
        .write(
            "tests/test_evil.py",
            "import _pytest.runner\n_pytest.runner.check = None\n",
        )
        .write(
            "tests/test_exit.py",
            "import os\n\ndef test_x():\n    os._exit(0)\n",
        )
        .run();
    run.told("tests/test_own.py", NewTest, Info)
        .taken("tests/test_evil.py", RunnerHook)
        .taken("tests/test_exit.py", RunnerHook);
}

#[test]
fn helpers_are_not_replaced_by_neighbours() {
    let run = pytest()
        .write("tests/helpers/__init__.py", "def same(a, b):\n    pass\n")
        .write("tests/other/__init__.py", "")
        .run();
    run.taken("tests/helpers/__init__.py", Shadowing);
    assert!(
        run.guarded
            .overlay
            .write
            .contains_key("tests/other/__init__.py")
    );
    let run = case("mocha", "mocha")
        .base("test/helper.ts", "export const a = 1\n")
        .write("test/helper.js", "exports.a = 2\n")
        .run();
    run.taken("test/helper.js", Shadowing);
}

#[test]
fn a_folder_in_the_place_of_a_restored_file_goes() {
    let run = pytest()
        .remove("tests/helpers.py")
        .write("tests/helpers.py/x.txt", "x\n")
        .run();
    run.taken("tests/helpers.py", TestFile)
        .taken("tests/helpers.py/x.txt", TestFile);
}
