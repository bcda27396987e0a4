use crate::support::{Case, case};
use atlas_guard::SignalKind::{
    BuildProduct, RunnerConfig, RunnerHook, Shadowing, StartupHook, TestScript,
};
use atlas_guard::SignalSeverity::Suspicious;

fn pytest() -> Case {
    case("pytest", "pytest -rA tests")
        .base("shop/__init__.py", "")
        .base("shop/cart.py", "def total(x):\n    return 0\n")
        .base("tests/test_cart.py", "def test_total():\n    assert True\n")
        .base("tests/conftest.py", "import pytest\n")
}

#[test]
fn conftest_is_the_instances() {
    let hook = "def pytest_runtest_makereport(item, call):\n    pass\n";
    let run = pytest()
        .write("conftest.py", hook)
        .write("tests/conftest.py", hook)
        .write("shop/cart.py", "def total(x):\n    return sum(x)\n")
        .run();
    run.taken("conftest.py", RunnerHook)
        .taken("tests/conftest.py", RunnerHook)
        .silent("shop/cart.py");
}

#[test]
fn a_conftest_that_no_test_of_the_instance_sees_stays() {
    let run = pytest().write("extra/checks/conftest.py", "x = 1\n").run();
    run.silent("extra/checks/conftest.py");
}

#[test]
fn ini_files_of_pytest_are_the_instances() {
    pytest()
        .write("pytest.ini", "[pytest]\naddopts = -p evil\n")
        .write("docs/pytest.ini", "[pytest]\n")
        .run()
        .taken("pytest.ini", RunnerConfig)
        .silent("docs/pytest.ini");
}

#[test]
fn only_the_runners_tables_of_pyproject_are_restored() {
    let base = "[project]\nname = \"shop\"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = \"-ra\"\n\n[tool.black]\nline-length = 88\n";
    let honest = base.replace("[]", "[\"attrs>=23\"]").replace("88", "100");
    let attack = honest.replace("-ra", "-p no:terminal -p evil");
    let run = |text: &str| {
        pytest()
            .base("pyproject.toml", base)
            .write("pyproject.toml", text)
            .run()
    };
    run(&honest).silent("pyproject.toml");
    run(&attack).rewritten("pyproject.toml", &honest);
    // A table that Base has not; a table that is gone.
    let entry = format!("{honest}\n[project.entry-points.pytest11]\nevil = \"shop.evil\"\n");
    run(&entry).rewritten("pyproject.toml", &format!("{honest}\n"));
    let gone = honest.replace("[tool.pytest.ini_options]\naddopts = \"-ra\"\n\n", "");
    run(&gone).rewritten("pyproject.toml", &honest);
    // Entry points of other groups are honest work.
    let honest = format!("{base}\n[project.entry-points.console_scripts]\nshop = \"shop:main\"\n");
    run(&honest).silent("pyproject.toml");
}

#[test]
fn other_spellings_of_a_table_do_not_get_around() {
    let base = "[project]\nname = \"shop\"\n";
    for attack in [
        "[project]\nname = \"shop\"\n[tool]\npytest.ini_options.addopts = \"-p evil\"\n",
        "[project]\nname = \"shop\"\n[tool.\"pyt\\u0065st\".ini_options]\naddopts = \"-p evil\"\n",
        "[project]\nname = \"shop\"\n[tool.pytest]\nini_options = {addopts = \"-p evil\"}\n",
        "[project]\nname = \"shop\"\n[project.entry-points]\npytest11 = {evil = \"evil\"}\n",
        "[project]\nname = \"shop\"\nentry-points.pytest11.evil = \"evil\"\n",
    ] {
        let run = pytest()
            .base("pyproject.toml", base)
            .write("pyproject.toml", attack)
            .run();
        let left = run.guarded.overlay.write.get("pyproject.toml");
        let left = left.map_or("", |file| std::str::from_utf8(&file.bytes).unwrap());
        assert!(!left.contains("evil"), "{left}");
        assert_eq!(run.signal("pyproject.toml").kind, RunnerConfig);
    }
    // A header inside a string is text.
    let honest =
        "[project]\nname = \"shop\"\ndescription = \"\"\"\n[tool.pytest.ini_options]\n\"\"\"\n";
    let run = pytest()
        .base("pyproject.toml", base)
        .write("pyproject.toml", honest)
        .run();
    run.silent("pyproject.toml");
    // What cannot be told apart goes as a whole, in a new file too.
    let new = "tool = {pytest = {ini_options = {addopts = \"-p evil\"}}}\n";
    let run = pytest().write("pyproject.toml", new).run();
    run.taken("pyproject.toml", RunnerConfig);
    // A template is no manifest.
    let run = pytest()
        .base("templates/pyproject.toml", "[{{name}}]\n")
        .write("templates/pyproject.toml", "[{{name}}]\na = 1\n")
        .write("more/pyproject.toml", "[{{name}}]\n")
        .run();
    run.told("templates/pyproject.toml", RunnerConfig, Suspicious)
        .silent("more/pyproject.toml");
    // What is no TOML any more is the instance's again.
    let run = pytest()
        .base("pyproject.toml", base)
        .write("pyproject.toml", "[project\n")
        .run();
    run.taken("pyproject.toml", RunnerConfig);
}

#[test]
fn only_the_runners_sections_of_ini_files_are_restored() {
    let base = "[metadata]\nname = shop\nversion = 1.0\n\n[tool:pytest]\ntestpaths = tests\n";
    let run = |text: &str| {
        pytest()
            .base("setup.cfg", base)
            .write("setup.cfg", text)
            .run()
    };
    let honest = base.replace("1.0", "1.1");
    run(&honest).silent("setup.cfg");
    let attack = honest.replace(
        "testpaths = tests",
        "testpaths =\n    nothing\naddopts = -x",
    );
    run(&attack).rewritten("setup.cfg", &honest);
    let entry = format!(
        "{honest}\n[options.entry_points]\nconsole_scripts =\n    shop = shop:main\npytest11 =\n    evil = evil\n"
    );
    let wanted =
        format!("{honest}\n[options.entry_points]\nconsole_scripts =\n    shop = shop:main\n");
    run(&entry).rewritten("setup.cfg", &wanted);
}

#[test]
fn a_new_tox_ini_loses_its_pytest_section_alone() {
    let run = pytest()
        .write(
            "tox.ini",
            "[flake8]\nmax-line-length = 99\n[pytest]\naddopts = -p x\n",
        )
        .run();
    run.rewritten("tox.ini", "[flake8]\nmax-line-length = 99\n");
    let run = pytest()
        .write("tox.ini", "[pytest]\naddopts = -p x\n")
        .run();
    run.taken("tox.ini", RunnerConfig);
}

#[test]
fn tox_runs_what_the_instance_says() {
    let base = "[testenv]\ndeps = pytest\ncommands = pytest {posargs}\n";
    let attack = "[testenv]\ndeps = pytest\ncommands = python -c \"print('1 passed')\"\n";
    let tox = |command| {
        case("pytest", command)
            .base("tox.ini", base)
            .write("tox.ini", attack)
            .run()
    };
    tox("tox -e py311").rewritten("tox.ini", base);
    tox("pytest tests").silent("tox.ini");
}

#[test]
fn modules_that_the_runner_imports_are_not_replaced() {
    let run = pytest()
        .write("json.py", "")
        .write("src/_pytest/__init__.py", "")
        .write("src/_pytest/runner.py", "x = 1\n")
        .write("tests/traceback.py", "")
        .write("sitecustomize.py", "")
        .write("shop/json.py", "")
        .write("queue/readme.txt", "no module\n")
        .write("secrets.py", "")
        .run();
    run.taken("json.py", Shadowing)
        .taken("src/_pytest/__init__.py", Shadowing)
        .taken("src/_pytest/runner.py", Shadowing)
        .taken("tests/traceback.py", Shadowing)
        .taken("sitecustomize.py", StartupHook)
        .silent("shop/json.py")
        .silent("queue/readme.txt")
        .told("secrets.py", Shadowing, Suspicious);
}

#[test]
fn the_runners_own_repository_may_change_it() {
    let run = case("pytest", "pytest testing")
        .base("src/_pytest/__init__.py", "")
        .base("src/_pytest/runner.py", "x = 1\n")
        .write("src/_pytest/runner.py", "x = 2\n")
        .write("src/_pytest/added.py", "x = 2\n")
        .run();
    run.silent("src/_pytest/runner.py")
        .silent("src/_pytest/added.py");
}

#[test]
fn what_python_runs_at_its_start_goes() {
    let run = pytest()
        .write("evil.pth", "import evil\n")
        .write(
            "shop.egg-info/entry_points.txt",
            "[pytest11]\nevil = evil\n",
        )
        .write("tests/__pycache__/test_cart.cpython-311.pyc", "x")
        .write("models/net.pth", "PK weights of a model\n")
        .run();
    run.taken("evil.pth", StartupHook)
        .taken("shop.egg-info/entry_points.txt", RunnerHook)
        .taken("tests/__pycache__/test_cart.cpython-311.pyc", BuildProduct)
        .silent("models/net.pth");
}

#[test]
fn a_folder_of_tests_does_not_become_a_package() {
    let run = pytest()
        .write("tests/__init__.py", "import os\n")
        .write("shop/extra/__init__.py", "")
        .run();
    run.taken("tests/__init__.py", RunnerHook)
        .silent("shop/extra/__init__.py");
}

#[test]
fn plugins_in_setup_py_are_told() {
    let run = pytest()
        .base("setup.py", "setup(name='shop')\n")
        .write(
            "setup.py",
            "setup(name='shop', entry_points={'pytest11': ['a = a']})\n",
        )
        .run();
    run.told("setup.py", RunnerHook, Suspicious);
    let run = pytest()
        .base("setup.py", "setup(name='shop')\n")
        .write(
            "setup.py",
            "setup(name='shop', entry_points={'console_scripts': ['a = a']})\n",
        )
        .run();
    run.silent("setup.py");
}

#[test]
fn scripts_of_the_test_command_are_the_instances() {
    let django = |command| {
        case("django", command)
            .base("tests/runtests.py", "run()\n")
            .base("bin/cli.py", "run()\n")
            .write("tests/runtests.py", "print('OK')\n")
            .write("bin/cli.py", "print('OK')\n")
            .run()
    };
    django("cd tests && ./runtests.py auth").taken("tests/runtests.py", TestScript);
    django("python bin/cli.py selftest").told("bin/cli.py", TestScript, Suspicious);
    let nox = |command| {
        case("pytest", command)
            .base("noxfile.py", "import nox\n")
            .write("noxfile.py", "print('1 passed')\n")
            .run()
    };
    nox("nox -s tests").taken("noxfile.py", TestScript);
    nox("pytest").silent("noxfile.py");
}

#[test]
fn a_module_given_to_the_runner_by_name_is_the_instances() {
    let run = case("pytest", "pytest -p tools.test_plugin tests")
        .base("tools/test_plugin.py", "x = 1\n")
        .write("tools/test_plugin.py", "x = 2\n")
        .run();
    run.taken("tools/test_plugin.py", TestScript);
}
