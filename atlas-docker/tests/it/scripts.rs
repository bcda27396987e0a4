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
    program(&bin.join("node"), "echo 20.20.2");
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
    assert_eq!(call("20.20").0, Some(0));
    assert_eq!(call("20.2").0, Some(1));
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

#[test]
fn what_unittest_runs_is_written_down_and_the_console_has_what_it_had() {
    let tests = "import unittest\nimport io, os, sys\n\n\
        class Odd(unittest.TestCase):\n\
        \x20   def test_case(self): pass\n\
        \x20   def test_doc(self):\n        'Says <a> thing.'\n\
        \x20   def test_err(self):\n        raise ValueError('& <x>')\n\
        \x20   def test_fail(self):\n        self.assertEqual(__name__, 1)\n\
        \x20   @unittest.skip('no')\n    def test_skip(self): pass\n\
        \x20   @unittest.expectedFailure\n    def test_known(self): self.fail()\n\
        \x20   @unittest.expectedFailure\n    def test_better(self): pass\n\
        \x20   def test_parts(self):\n        for i in range(3):\n            with self.subTest(i=i): self.assertEqual(i, 0)\n\
        \x20   def test_left(self):\n        for i in range(3):\n            with self.subTest(i=i): self.skipTest('no')\n\
        \x20   def test_within(self):\n\
        \x20       class Inner(unittest.TestCase):\n            def test_inner(self): self.fail()\n\
        \x20       suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)\n\
        \x20       unittest.TextTestRunner(stream=io.StringIO()).run(suite)\n\
        \x20   def test_forked(self):\n\
        \x20       child = os.fork()\n        if not child: os._exit(unittest.main('other', exit=False, argv=['x']).result.testsRun)\n\
        \x20       os.waitpid(child, 0)\n\n\
        class Broken(unittest.TestCase):\n\
        \x20   @classmethod\n    def setUpClass(cls): raise RuntimeError\n\
        \x20   def test_never(self): pass\n\n\
        if __name__ == '__main__':\n    print(sys.argv, sys.path[0] == os.path.dirname(os.path.abspath(__file__)))\n    unittest.main()\n";
    let inside = folder(&[
        ("tests/__init__.py", ""),
        ("tests/test_odd.py", tests),
        (
            "other.py",
            "import unittest\nclass Other(unittest.TestCase):\n    def test_other(self): pass\n",
        ),
        ("crash.py", "def f():\n    raise OSError('gone')\nf()\n"),
    ]);
    let env = tempfile::tempdir().unwrap();
    lay_tools(
        &plan(&repository(inside.path()), &AnalysisOptions::default()),
        env.path(),
    );
    let launcher = env.path().join("toolbox/unittest-two.py");
    let run = |words: &[&str], launched: bool| {
        let out = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        if launched {
            command.arg(&launcher);
        }
        let done = command
            .args(words)
            .current_dir(inside.path())
            .env("ATLAS_OUT", out.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        let text = [done.stdout, done.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let took = regex::Regex::new(r"in \d+\.\d+s").unwrap();
        let report = std::fs::read_to_string(out.path().join("junit.xml")).unwrap_or_default();
        (
            done.status.code(),
            took.replace_all(&text, "in Ns").into_owned(),
            report,
        )
    };
    for words in [
        &["-m", "unittest", "discover", "-v"][..],
        &["-m", "unittest", "tests.test_odd", "-v"],
        &["tests/test_odd.py", "-v"],
        &["crash.py"],
        &["-m", "crash"],
        &["-m", "not_there"],
    ] {
        let (plain, watched) = (run(words, false), run(words, true));
        assert_eq!((watched.0, &watched.1), (plain.0, &plain.1), "{words:?}");
        assert_eq!(plain.2, "");
        if !words
            .iter()
            .any(|word| word.contains("unittest") || word.contains("odd"))
        {
            assert!(!watched.2.contains("testcase"), "{words:?}: {}", watched.2);
            continue;
        }
        let verdict = |name: &str| {
            let lines: Vec<&str> = watched
                .2
                .lines()
                .filter(|line| line.contains(name))
                .collect();
            assert!(lines.len() <= 1, "{lines:?}");
            lines.first().map(|line| {
                let (_, inside) = line.split_once("\">").unwrap();
                inside.strip_suffix("</testcase>").unwrap().to_owned()
            })
        };
        for (name, expected) in [
            ("test_case (", ""),
            ("test_doc (", ""),
            ("test_err (", "<failure/>"),
            ("test_fail (", "<failure/>"),
            ("test_skip (", "<skipped/>"),
            ("test_known (", "<skipped/>"),
            ("test_better (", ""),
            ("test_parts (", "<failure/>"),
            ("test_left (", "<skipped/>"),
            ("test_within (", ""),
            ("test_forked (", ""),
            ("setUpClass (", "<failure/>"),
        ] {
            assert_eq!(
                verdict(name).as_deref(),
                Some(expected),
                "{words:?} {name}: {}",
                watched.2
            );
        }
        assert_eq!(verdict("test_inner"), None);
        assert_eq!(verdict("test_other"), None);
        assert_eq!(verdict("test_never"), None);
    }
}

/// Dependencies come by the pull request's lockfile, and its manifests go again.
#[test]
fn head_s_lockfile_is_installed_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let read = |path: &str| std::fs::read_to_string(at(path)).unwrap();
    write(&at("repo/a b/node_modules/old"), "");
    write(&at("repo/a b/package.json"), "base manifest\n");
    write(&at("head/a b/package.json"), "head manifest\n");
    write(&at("head/a b/pnpm-lock.yaml"), "head lock\n");
    let script = at("head-lock");
    write(
        &script,
        include_str!("../../src/languages/javascript/head-lock.sh"),
    );
    let run = |folder: &str, command: &str| {
        Command::new("bash")
            .arg(&script)
            .args([folder, "a b/package.json", "a b/pnpm-lock.yaml"])
            .args(["--", "bash", "-c", command])
            .current_dir(at("head"))
            .env("ATLAS_REPO", at("repo"))
            .status()
            .unwrap()
            .success()
    };
    assert!(run(
        "a b",
        "cat package.json pnpm-lock.yaml > node_modules/seen"
    ));
    assert_eq!(
        read("repo/a b/node_modules/seen"),
        "head manifest\nhead lock\n"
    );
    assert_eq!(read("repo/a b/package.json"), "base manifest\n");
    assert!(!at("repo/a b/pnpm-lock.yaml").exists());
    // What fails is done once more with the repository's own.
    assert!(!run("a b", "cat package.json >> node_modules/tries; false"));
    assert_eq!(
        read("repo/a b/node_modules/tries"),
        "head manifest\nbase manifest\n"
    );
    assert!(!run("", "true"), "there is no tree");
}

/// Seen on failsafe: without sources a module's test JAR is not there yet, and its release of later came in its place.
#[test]
fn a_module_of_the_checkout_is_never_replaced_by_its_release() {
    let pom = |parent: &str, name: &str| {
        format!(
            "<project>\n  <parent>\n    <artifactId>{parent}</artifactId>\n  </parent>\n  <artifactId>\n    {name}\n  </artifactId>\n\
             <dependencies><dependency><artifactId>elsewhere</artifactId></dependency></dependencies></project>\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(&at("repo/pom.xml"), &pom("elsewhere", "whole"));
    write(&at("repo/core/pom.xml"), &pom("whole", "core"));
    program(
        &at("bin/mvn"),
        r#"case "$*" in
  *:get*)
    for word in "$@"; do
      case $word in
        -Dartifact=*) echo "${word#*=}" >> "$ATLAS_ENV/asked" ;;
      esac
    done
    place=$ATLAS_ENV/m2/org/example/elsewhere/2.0
    mkdir -p "$place" && echo '<version>2.0</version>' | tee "$place/elsewhere-2.0.pom" > "$place/elsewhere-2.0.jar"
    ;;
  *)
    if [ -e "$ATLAS_ENV/asked" ]; then
      mkdir -p target/classes && touch target/classes/A.class
      echo '[INFO] BUILD SUCCESS'
    else
      echo '[ERROR] could not be resolved: org.example:core:jar:1.0-SNAPSHOT, org.example:elsewhere:jar:2.0-SNAPSHOT'
      echo '[INFO] BUILD FAILURE'
    fi
    ;;
esac"#,
    );
    let output = Command::new("bash")
        .arg("-c")
        .arg(include_str!("../../src/languages/java/fetch.sh"))
        .args(["fetch", "3.9.9", "-B", "test"])
        .current_dir(at("repo"))
        .env("ATLAS_ENV", folder.path())
        .env(
            "PATH",
            format!(
                "{}:{}",
                at("bin").display(),
                std::env::var("PATH").unwrap_or_default()
            ),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let asked = std::fs::read_to_string(at("asked")).unwrap();
    assert_eq!(asked, "org.example:elsewhere:2.0:jar\n", "{said}");
}

/// Seen on keyring: a part of its build writes the text of the licence, which it fetches.
#[test]
fn a_python_project_is_built_without_what_asks_a_host_out_of_reach() {
    let built = |requirement: &str, frames: &str| {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        write(&at("repo/pyproject.toml"), "");
        write(&at("toolbox/python-uv"), "");
        program(
            &at("bin/uv"),
            r#"echo "$*" >> "$ATLAS_ENV/asked"
case "$*" in
  *--output-file*) while [ "$1" != --output-file ]; do shift; done; : > "$2" ;;
  *" -e "*) exit 1 ;;
esac"#,
        );
        program(
            &at("venv/bin/python"),
            r#"case "$*" in
  *config*) ;;
  *--no-build-isolation*) grep -q uninstall "$ATLAS_ENV/asked" || { cat "$ATLAS_ENV/said" >&2; exit 1; } ;;
  *) exit 1 ;;
esac"#,
        );
        let refused = "  gaierror: [Errno -2] Name or service not known\n";
        let begin = "  Traceback (most recent call last):\n    File \"/usr/lib/python3.11/socket.py\", line 1\n";
        let frames = frames
            .replace('<', "    File \"/v/lib/python3.11/site-packages/")
            .replace('>', "\", line 1\n");
        write(
            &at("said"),
            &format!("{begin}{refused}{begin}{frames}{refused}"),
        );
        let output = Command::new("bash")
            .arg("-c")
            .arg(include_str!("../../src/languages/python/install.sh"))
            .args(["install", "--project", ".", "--backend", "setuptools>=77"])
            .args(["--backend", requirement])
            .current_dir(at("repo"))
            .env("ATLAS_ENV", folder.path())
            .output()
            .unwrap();
        let drift = std::fs::read_to_string(at("drift")).unwrap_or_default();
        (output.status.success(), drift)
    };
    let own = "<setuptools/build_meta.py>";
    for (name, module) in [
        ("coherent.licensed", "coherent/licensed/__init__.py"),
        ("one-that-fetches[x]>=1", "one_that_fetches.py"),
    ] {
        let (is_built, drift) = built(name, &format!("{own}<{module}><requests/api.py>"));
        let name = name.split('[').next().unwrap();
        assert!(is_built, "{drift}");
        assert_eq!(
            drift,
            format!("the project is built without {name}, which asks a host that is not reached\n")
        );
    }
    // The project's own script asks, or somebody unknown.
    for frames in [own, "<requests/api.py>", ""] {
        let (is_built, drift) = built("coherent.licensed", frames);
        assert!(!is_built && !drift.contains("without"), "{frames}: {drift}");
    }
}
