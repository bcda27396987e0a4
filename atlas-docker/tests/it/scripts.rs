//! What scripts of the toolbox and of substitutes do where a plan's tests cannot show it.

use crate::analysis::{folder, plan, repository};
use crate::support::lay_tools;
use atlas_docker::AnalysisOptions;
use std::process::Command;

#[test]
fn a_package_is_told_from_a_dependency_of_its_name() {
    let manifest = |name: &str, version: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{more}")
    };
    let own = manifest(
        "codec",
        "2.0.0",
        "[dev-dependencies]\nearlier = { path = \"earlier\" }\n",
    );
    let earlier = manifest(
        "earlier",
        "0.1.0",
        "[dependencies]\ncodec = { path = \"../released\" }\n",
    );
    let inside = folder(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", "pub fn two() -> u8 { 2 }\n"),
        (
            "tests/good.rs",
            "#[test]\nfn is_two() { assert_eq!(codec::two(), 2); }\n",
        ),
        (
            "tests/broken.rs",
            "#[test]\nfn is_three() { assert_eq!(codec::three(), 3); }\n",
        ),
        ("earlier/Cargo.toml", &earlier),
        ("earlier/src/lib.rs", ""),
        ("released/Cargo.toml", &manifest("codec", "1.0.0", "")),
        ("released/src/lib.rs", ""),
    ]);
    let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
    let env = tempfile::tempdir().unwrap();
    lay_tools(&plan, env.path());
    let output = Command::new("bash")
        .args(["-c", &plan.test_cmd])
        .current_dir(inside.path())
        .env("ATLAS_ENV", env.path())
        .env("ATLAS_REPO", inside.path())
        .env("CARGO_TARGET_DIR", env.path().join("target"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("test is_two ... ok"), "{said}");
    assert!(
        said.contains("cannot find function `three`") && !said.contains("ambiguous"),
        "{said}"
    );
    assert!(!output.status.success());
}
