use crate::support::{Case, case};
use atlas_guard::SignalAction;
use atlas_guard::SignalKind::{Repository, RunnerConfig, StartupHook, TestScript};
use atlas_guard::SignalSeverity::{Suspicious, Tamper};

#[test]
fn paths_that_no_source_tree_has_go() {
    let run = case("pytest", "pytest")
        .write(".git/hooks/post-checkout", "evil\n")
        .write("sub/.GIT/config", "evil\n")
        .write("../outside.py", "evil\n")
        .write("/etc/profile", "evil\n")
        .write(".github/workflows/ci.yml", "on: push\n")
        .run();
    for path in [
        ".git/hooks/post-checkout",
        "sub/.GIT/config",
        "../outside.py",
        "/etc/profile",
    ] {
        run.taken(path, Repository);
        assert_eq!(run.signal(path).severity, Tamper);
    }
    run.silent(".github/workflows/ci.yml");
    assert_eq!(run.guarded.overlay.check_paths(), Ok(()));
}

#[test]
fn files_behind_a_link_go_and_links_out_are_refused() {
    let run = case("pytest", "pytest")
        .link("data", "../../etc")
        .link("latest", "v1/notes")
        .link("docs/deep/up", "../../src/../README")
        .link("here", ".")
        .link("docs/by", "../here/../x")
        .link("proc", "/proc")
        .write("data/conftest.py", "x\n")
        .run();
    run.taken("data/conftest.py", Repository)
        .silent("latest")
        .silent("here")
        .silent("docs/deep/up");
    for path in ["data", "docs/by", "proc"] {
        assert_eq!(run.signal(path).action, SignalAction::Refused, "{path}");
    }
    // What the instance's own patches write is part of its tree.
    let gold = "diff --git a/data b/data\nnew file mode 120000\n--- /dev/null\n+++ b/data\n@@ -0,0 +1 @@\n+../x\n\\ No newline at end of file\n";
    let run = case("pytest", "pytest")
        .link("data", "../x")
        .gold(gold)
        .run();
    run.told("data", Repository, Suspicious);
}

#[test]
fn what_shells_run_by_themselves_goes() {
    let run = case("gotest", "go test ./...")
        .write(".envrc", "evil\n")
        .write(".githooks/pre-commit", "evil\n")
        .write(".env", "X=1\n")
        .write("deploy/.profile", "fine\n")
        .run();
    run.taken(".envrc", StartupHook)
        .taken(".githooks/pre-commit", StartupHook)
        .told(".env", StartupHook, Suspicious)
        .silent("deploy/.profile");
}

const MAKEFILE: &str = "CC = gcc\nOBJS = a.o b.o\n\nall: $(OBJS)\n\t$(CC) -o shop $(OBJS)\n\ntest: all check-unit\n\t./run_tests\n\ncheck-unit:\n\t./unit\n\nclean:\n\trm -f *.o\n";

fn make(text: &str) -> Case {
    case("handmade", "make test")
        .base("Makefile", MAKEFILE)
        .base("src/a.c", "int a;\n")
        .write("Makefile", text)
}

#[test]
fn only_rules_of_the_test_target_are_restored() {
    let honest = MAKEFILE
        .replace("b.o", "b.o c.o")
        .replace("rm -f *.o", "rm -f *.o shop");
    make(&honest).run().silent("Makefile");
    let attack = honest
        .replace("./run_tests", "echo PASS")
        .replace("./unit", "true");
    make(&attack).run().rewritten("Makefile", &honest);
    let second = format!("{honest}test:\n\techo PASS\n");
    make(&second).run().rewritten("Makefile", &honest);
    let shell = format!("SHELL = ./evil.sh\n{honest}");
    make(&shell).run().rewritten("Makefile", &honest);
}

#[test]
fn a_makefile_that_make_would_rather_read_goes() {
    let run = make(MAKEFILE)
        .write("GNUmakefile", "test:\n\techo PASS\n")
        .run();
    run.taken("GNUmakefile", TestScript);
    assert_eq!(run.signal("GNUmakefile").severity, Tamper);
}

#[test]
fn scripts_and_configurations_that_the_command_names() {
    let base = || {
        case("tap", "bash -lc \"cd ci && ./run.sh --config=opts.yml\"")
            .base("ci/run.sh", "prove\n")
            .base("ci/opts.yml", "a: 1\n")
            .base("run.sh", "x\n")
    };
    let run = base()
        .write("ci/run.sh", "echo ok 1\n")
        .write("ci/opts.yml", "a: 2\n")
        .write("run.sh", "y\n")
        .run();
    run.taken("ci/run.sh", TestScript)
        .taken("ci/opts.yml", RunnerConfig)
        .silent("run.sh");
}

#[test]
fn rules_of_other_languages_do_not_apply() {
    let run = case("gotest", "go test ./...")
        .write("conftest.py", "x\n")
        .write("jest.config.js", "x\n")
        .run();
    run.silent("conftest.py").silent("jest.config.js");
    // With nothing known about the run, all do.
    let run = case("tap", "")
        .base("a.py", "")
        .write("conftest.py", "x\n")
        .write("jest.config.js", "x\n")
        .run();
    assert!(run.guarded.overlay.is_empty());
}

#[test]
fn git_attributes_that_filter_are_told() {
    let run = case("gotest", "go test")
        .write(".gitattributes", "*.go filter=evil\n")
        .run();
    run.told(".gitattributes", Repository, Suspicious);
    let run = case("gotest", "go test")
        .write(".gitattributes", "*.md text\n")
        .run();
    run.silent(".gitattributes");
}
