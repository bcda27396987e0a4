use crate::support::{Case, case};
use atlas_guard::SignalKind::{Dependencies, NewTest, RunnerHook, TestFile, Toolchain};
use atlas_guard::SignalSeverity::{Info, Suspicious};

fn gotest() -> Case {
    case("gotest", "go test -v ./...")
        .base(
            "go.mod",
            "module shop\n\ngo 1.21\n\nrequire github.com/stretchr/testify v1.8.0\n",
        )
        .base("cart/cart.go", "package cart\n")
        .base(
            "cart/cart_test.go",
            "package cart\n\nimport \"testing\"\n\nfunc TestCart(t *testing.T) {}\n",
        )
}

#[test]
fn a_test_main_in_a_tested_package_goes() {
    let main = "package cart\nimport (\n\"os\"\n\"testing\"\n)\nfunc TestMain(m *testing.M) { os.Exit(0) }\n";
    gotest()
        .write("cart/main_test.go", main)
        .run()
        .taken("cart/main_test.go", RunnerHook);
    let init = "package cart\nfunc init() { patch() }\n";
    gotest()
        .write("cart/init_test.go", init)
        .run()
        .taken("cart/init_test.go", RunnerHook);
    let var = "package cart\nvar _ = patch()\n";
    gotest()
        .write("cart/var_test.go", var)
        .run()
        .taken("cart/var_test.go", RunnerHook);
    // In a package of its own it steers nothing of the instance.
    let run = gotest()
        .write("fresh/main_test.go", &main.replace("os.Exit(0)", "m.Run()"))
        .run();
    run.told("fresh/main_test.go", NewTest, Info);
}

#[test]
fn own_tests_stay_unless_they_would_not_compile() {
    let own = "package cart\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {}\n";
    gotest()
        .write("cart/more_test.go", own)
        .run()
        .told("cart/more_test.go", NewTest, Info);
    let twice = own.replace("TestMore", "TestCart");
    let run = gotest().write("cart/more_test.go", &twice).run();
    run.taken("cart/more_test.go", RunnerHook);
    assert_eq!(run.signal("cart/more_test.go").severity, Info);
}

#[test]
fn replace_lines_are_restored_and_requirements_stay() {
    let base = "module shop\n\ngo 1.21\n\nrequire github.com/stretchr/testify v1.8.0\n";
    let honest = base.replace(
        "v1.8.0\n",
        "v1.9.0\n\nrequire (\n\tgolang.org/x/text v0.3.0\n)\n",
    );
    gotest().write("go.mod", &honest).run().silent("go.mod");
    let attack = format!("{honest}\nreplace github.com/stretchr/testify => ./fake\n");
    gotest()
        .write("go.mod", &attack)
        .run()
        .rewritten("go.mod", &format!("{honest}\n"));
    let block = format!("{honest}replace (\n\tgithub.com/stretchr/testify => ./fake // x\n)\n");
    gotest()
        .write("go.mod", &block)
        .run()
        .rewritten("go.mod", &honest);
}

#[test]
fn a_new_workspace_goes() {
    gotest()
        .write("go.work", "go 1.21\nuse ./fake\n")
        .run()
        .taken("go.work", Toolchain);
}

#[test]
fn vendored_test_libraries_are_the_instances() {
    let run = gotest()
        .base(
            "vendor/github.com/stretchr/testify/assert/a.go",
            "package assert\n",
        )
        .base("vendor/golang.org/x/text/t.go", "package text\n")
        .write(
            "vendor/github.com/stretchr/testify/assert/a.go",
            "package assert // true\n",
        )
        .write("vendor/golang.org/x/text/t.go", "package text // new\n")
        .write("vendor/example.com/new/n.go", "package n\n")
        .run();
    run.taken(
        "vendor/github.com/stretchr/testify/assert/a.go",
        Dependencies,
    )
    .told("vendor/golang.org/x/text/t.go", Dependencies, Suspicious)
    .silent("vendor/example.com/new/n.go");
}

#[test]
fn test_data_of_base_stays() {
    let run = gotest()
        .base("cart/testdata/golden.txt", "1\n")
        .write("cart/testdata/golden.txt", "2\n")
        .write("cart/cart.go", "package cart\n\nfunc New() {}\n")
        .run();
    run.taken("cart/testdata/golden.txt", TestFile)
        .silent("cart/cart.go");
}
