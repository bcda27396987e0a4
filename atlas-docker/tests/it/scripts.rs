//! What scripts of the toolbox and of substitutes do where a plan's tests cannot show it.

use crate::analysis::{folder, plan, repository};
use crate::support::lay_tools;
use atlas_docker::AnalysisOptions;
use std::path::Path;
use std::process::Command;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Makes a program of `text` that bash runs.
fn program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    write(path, &format!("#!/bin/bash\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

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

/// PHPUnit as Composer installs it loads the project's classes, and configurations without a bootstrap file count on it.
#[test]
fn debian_s_phpunit_knows_the_project_s_classes() {
    const IMAGE: &str = "php:8.2-cli-bookworm";
    if std::env::var("ATLAS_TEST_DOCKER").as_deref() != Ok("1") {
        println!("skipped: ATLAS_TEST_DOCKER is not 1");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(
        &at("repo/vendor/bin/phpunit"),
        include_str!("../../src/languages/php/substitutes.phpunit.php"),
    );
    write(
        &at("repo/vendor/autoload.php"),
        "<?php spl_autoload_register(function ($name) { eval(\"class $name {}\"); });\n",
    );
    write(&at("substitutes/autoload"), "");
    write(
        &at("phpunit"),
        "#!/usr/bin/php\n<?php new OfTheProject(); echo \"tests run\\n\";\n",
    );
    let mount = |from: &str, to: &str| format!("{}:{to}:ro", at(from).display());
    let output = Command::new("docker")
        .args(["run", "--rm", "--network=none"])
        .args(["-v", &mount("repo", "/testbed")])
        .args(["-v", &mount("substitutes", "/opt/atlas/substitutes")])
        .args(["-v", &mount("phpunit", "/usr/bin/phpunit")])
        .args([IMAGE, "php", "/testbed/vendor/bin/phpunit"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("tests run"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_node_that_does_not_arrive_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    program(&bin.join("node"), "echo 20");
    program(&bin.join("npm"), "echo \"npm $*\" >> \"$ATLAS_ENV/calls\"");
    // A download that stands still ends with the time that it is given; the third one arrives.
    program(
        &bin.join("timeout"),
        "echo x >> \"$ATLAS_ENV/tries\"\n[ \"$(wc -l < \"$ATLAS_ENV/tries\")\" -gt 2 ] || exit 124\n\
        while [[ $1 != npm ]]; do shift; done\nexec \"$@\"",
    );
    let script = folder.path().join("version.sh");
    write(
        &script,
        include_str!("../../src/languages/javascript/version.sh"),
    );
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let call = |major: &str| {
        let output = Command::new("bash")
            .args([script.to_str().unwrap(), major, "10"])
            .env("PATH", &path)
            .env("ATLAS_ENV", folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, said) = call("22");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("atlas: Node 22 did not arrive"), "{said}");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls}");
    assert!(calls.contains("node@22 npm@10"), "{calls}");
    // One that never arrives is a failed build.
    program(&bin.join("timeout"), "exit 124");
    assert_eq!(call("22").0, Some(1));
    // What is there is not brought.
    assert_eq!(call("20").0, Some(0));
}

#[test]
fn an_own_release_is_measured_by_the_newest_tag_where_the_manifest_says_no_number() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("skipped: no node on this machine");
        return;
    }
    let inside = folder(&[
        (
            "package.json",
            "{\"name\": \"@acme/own\", \"version\": \"0.0.0-released-elsewhere\", \"scripts\": {\"test\": \"mocha\"}, \
             \"devDependencies\": {\"mocha\": \"^10\", \"acme-tool\": \"^1\"}}",
        ),
        ("test/a.test.js", "it('a', () => {})\n"),
    ]);
    let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
    let call = plan
        .build
        .iter()
        .find(|command| command.contains("own-release.cjs"))
        .expect("a step that keeps own releases out");
    // A dependency has brought a release from after the base commit, and one from before it.
    let copy = |folder: &str, version: &str| {
        write(
            &inside.path().join(folder).join("package.json"),
            &format!("{{\"name\": \"@acme/own\", \"version\": \"{version}\"}}"),
        );
    };
    let (late, early) = (
        "node_modules/@acme/own",
        "node_modules/x/node_modules/@acme/own",
    );
    copy(late, "4.10.1");
    write(
        &inside.path().join("node_modules/x/package.json"),
        "{\"name\": \"x\"}",
    );
    copy(early, "4.2.0");
    let env = tempfile::tempdir().unwrap();
    lay_tools(&plan, env.path());
    program(
        &env.path().join("bin/npm"),
        "[[ $1 == pack && ${!#} == @acme/own@4.9.1 ]] || exit 1\nmkdir package\n\
         echo '{\"name\": \"@acme/own\", \"version\": \"4.9.1\"}' > package/package.json\n\
         tar -czf own.tgz package\necho own.tgz",
    );
    let run = |script: &str| {
        let output = Command::new("bash")
            .args(["-ec", script])
            .current_dir(inside.path())
            .env("ATLAS_ENV", env.path())
            .env(
                "PATH",
                format!(
                    "{}:{}",
                    env.path().join("bin").display(),
                    std::env::var("PATH").unwrap()
                ),
            )
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let version = |folder: &str| {
        std::fs::read_to_string(inside.path().join(folder).join("package.json")).unwrap()
    };
    // Without a tag nothing is known.
    run("git init -q .; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m base");
    run(call);
    assert!(version(late).contains("4.10.1"));
    run(
        "git tag v4.9.1; git tag v4.9.0; git tag 20241127.1; git checkout -q --detach; \
         git -c user.name=a -c user.email=a@b commit -q --allow-empty -m later; git tag v4.10.0; git checkout -q v4.9.1",
    );
    run(call);
    assert!(version(late).contains("4.9.1"), "{}", version(late));
    assert!(version(early).contains("4.2.0"), "{}", version(early));
}
