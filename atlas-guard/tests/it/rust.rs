use crate::support::{Case, case};
use atlas_guard::SignalKind::{
    BuildProduct, Dependencies, InlineTests, RunnerConfig, Shadowing, TestFile, Toolchain,
};
use atlas_guard::SignalSeverity::{Info, Suspicious};

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n\n[lib]\nname = \"shop\"\n\n[dependencies]\nserde = \"1\"\n\n[dev-dependencies]\nproptest = \"1\"\n";
const LIB: &str = "pub fn one() -> u32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn is_one() {\n        assert_eq!(one(), 1);\n    }\n}\n";

fn cargo() -> Case {
    case("cargo", "cargo test")
        .base("Cargo.toml", MANIFEST)
        .base("src/lib.rs", LIB)
        .base("tests/cart.rs", "#[test]\nfn a() {}\n")
}

#[test]
fn cargos_own_files_are_the_instances() {
    let run = cargo()
        .write(
            ".cargo/config.toml",
            "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n",
        )
        .write(
            "rust-toolchain.toml",
            "[toolchain]\nchannel = \"nightly\"\n",
        )
        .write(".config/nextest.toml", "[profile.default]\n")
        .write("target/debug/deps/x", "x")
        .write("build.rs", "fn main() {}\n")
        .write("src/target.rs", "pub fn two() {}\n")
        .run();
    run.taken(".cargo/config.toml", RunnerConfig)
        .taken("rust-toolchain.toml", Toolchain)
        .taken(".config/nextest.toml", RunnerConfig)
        .taken("target/debug/deps/x", BuildProduct)
        .told("build.rs", Toolchain, Suspicious)
        .silent("src/target.rs");
}

#[test]
fn only_steering_keys_of_a_manifest_are_restored() {
    let honest = MANIFEST.replace("0.1.0", "0.2.0").replace(
        "serde = \"1\"",
        "serde = { version = \"1\", features = [\n  \"derive\",\n] }\nlibc = \"0.2\"",
    );
    cargo()
        .write("Cargo.toml", &honest)
        .run()
        .silent("Cargo.toml");
    let key = honest.replace("[lib]\n", "[lib]\ntest = false\nharness = false\n");
    cargo()
        .write("Cargo.toml", &key)
        .run()
        .rewritten("Cargo.toml", &honest);
    let table = format!("{honest}\n[[test]]\nname = \"cart\"\nharness = false\n");
    cargo()
        .write("Cargo.toml", &table)
        .run()
        .rewritten("Cargo.toml", &format!("{honest}\n"));
    let auto = honest.replace(
        "version = \"0.2.0\"",
        "version = \"0.2.0\"\nautotests = false",
    );
    cargo()
        .write("Cargo.toml", &auto)
        .run()
        .rewritten("Cargo.toml", &honest);
    let patch = format!("{honest}[patch.crates-io]\nproptest = {{ path = \"fake\" }}\n");
    cargo()
        .write("Cargo.toml", &patch)
        .run()
        .rewritten("Cargo.toml", &honest);
}

#[test]
fn features_and_binaries_of_a_solution_stay() {
    let honest = format!(
        "{MANIFEST}\n[features]\nfast = []\n\n[[bin]]\nname = \"shop\"\npath = \"src/main.rs\"\n\n[profile.release]\nlto = true\n"
    );
    cargo()
        .write("Cargo.toml", &honest)
        .run()
        .silent("Cargo.toml");
}

#[test]
fn a_moved_test_library_is_told() {
    let moved = MANIFEST.replace("proptest = \"1\"", "proptest = { path = \"fake\" }");
    cargo()
        .write("Cargo.toml", &moved)
        .run()
        .told("Cargo.toml", Dependencies, Suspicious);
}

#[test]
fn inline_tests_stay_and_may_grow() {
    let solved = LIB.replace("    1\n}", "    2 - 1\n}");
    cargo()
        .write("src/lib.rs", &solved)
        .run()
        .silent("src/lib.rs");
    let weaker = solved.replace("assert_eq!(one(), 1);", "");
    cargo()
        .write("src/lib.rs", &weaker)
        .run()
        .rewritten("src/lib.rs", &solved);
    let grown = solved.replace("    #[test]", "    #[test]\n    fn two() {}\n\n    #[test]");
    cargo()
        .write("src/lib.rs", &grown)
        .run()
        .told("src/lib.rs", InlineTests, Info);
}

#[test]
fn macros_that_tests_use_are_told() {
    let shadow = format!("macro_rules! assert_eq {{ ($($t:tt)*) => {{}} }}\n{LIB}");
    cargo()
        .write("src/lib.rs", &shadow)
        .run()
        .told("src/lib.rs", Shadowing, Suspicious);
    let other = format!("macro_rules! ensure {{ () => {{}} }}\n{LIB}");
    cargo()
        .write("src/lib.rs", &other)
        .run()
        .silent("src/lib.rs");
}

#[test]
fn integration_tests_are_the_instances() {
    let run = cargo()
        .write("tests/cart.rs", "#[test]\n#[ignore]\nfn a() {}\n")
        .run();
    run.taken("tests/cart.rs", TestFile);
}
