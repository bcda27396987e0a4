//! What analysis promises beyond its samples.

use atlas_core::{CommitSha, EnvironmentPlan, ErrorKind, Repository};
use atlas_docker::{
    Analysis, AnalysisOptions, analyse, context_files, inventory_script, languages,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) fn repository(checkout: &Path) -> Repository {
    Repository {
        name: "owner/name".to_owned(),
        checkout: checkout.to_owned(),
        base: "0".repeat(40).parse::<CommitSha>().unwrap(),
        base_date: "2025-06-01T12:00:00Z".to_owned(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    }
}

pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(crate) fn plan(repository: &Repository, options: &AnalysisOptions) -> EnvironmentPlan {
    match analyse(repository, options).unwrap() {
        Analysis::Plan(plan) => plan,
        Analysis::Verdict { reason, .. } => panic!("no plan: {reason}"),
    }
}

pub(crate) fn verdict(repository: &Repository, options: &AnalysisOptions) -> String {
    match analyse(repository, options).unwrap() {
        Analysis::Plan(plan) => panic!("a plan: {}", plan.test_cmd),
        Analysis::Verdict { reason, .. } => reason,
    }
}

const PYTHON: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[project]\nname = \"p\"\ndependencies = [\"attrs\"]\n[build-system]\nrequires = []\n",
    ),
    ("test_p.py", "import pytest\n"),
    (
        ".github/workflows/t.yml",
        "jobs:\n  test:\n    runs-on: ubuntu-latest\n    strategy: {matrix: {v: ['3.9', '3.12', '3.13']}}\n    steps:\n    - uses: actions/setup-python@v5\n      with:\n        python-version: ${{ matrix.v }}\n    - run: pytest\n",
    ),
];

#[test]
fn no_version_is_younger_than_the_commit() {
    let folder = folder(PYTHON);
    let mut repository = repository(folder.path());
    for (date, image) in [
        ("2021-05-01", "python:3.9-slim-bookworm"),
        ("2024-05-01T00:00:00+02:00", "python:3.12-slim-bookworm"),
        ("2025-05-01", "python:3.13-slim-bookworm"),
    ] {
        date.clone_into(&mut repository.base_date);
        assert_eq!(
            plan(&repository, &AnalysisOptions::default()).base_image,
            image
        );
    }
}

#[test]
fn freezing_can_be_switched_off() {
    let folder = folder(PYTHON);
    let repository = repository(folder.path());
    let frozen = plan(&repository, &AnalysisOptions::default());
    let newest = plan(
        &repository,
        &AnalysisOptions {
            freeze: false,
            ..AnalysisOptions::default()
        },
    );
    let dated = |plan: &EnvironmentPlan| {
        plan.build
            .iter()
            .any(|line| line.contains(" --day 2025-06-01 "))
    };
    assert!(dated(&frozen) && !dated(&newest));
    assert_eq!(frozen.test_cmd, newest.test_cmd);
    assert!(
        newest.drift[0].contains("what the index has at the build"),
        "{:?}",
        newest.drift
    );
}

#[test]
fn manifests_of_the_pull_request_only_add_a_prefetch() {
    let folder = folder(PYTHON);
    let mut repository = repository(folder.path());
    let options = AnalysisOptions::default();
    let before = plan(&repository, &options);
    assert!(before.prefetch.is_empty());
    let head = "[project]\nname = \"p\"\ndependencies = [\"attrs\", \"idna>=3; python_version > '3'\"]\n[build-system]\nrequires = []\n";
    repository
        .head_manifests
        .insert("pyproject.toml".to_owned(), head.into());
    let mut after = plan(&repository, &options);
    assert_eq!(
        after.prefetch,
        [
            r#"bash "$ATLAS_ENV/toolbox/install-python" --add --day 2025-06-01 'idna>=3; python_version > '\''3'\'''"#
        ]
    );
    after.prefetch.clear();
    after.drift = before.drift.clone();
    after.evidence.remove("prefetch");
    assert_eq!(before, after, "and nothing else differs");
}

/// A test's own new dependency stands where tox's others do.
#[test]
fn what_a_pull_request_adds_to_tox_s_dependencies_is_fetched() {
    let tox = "[testenv]\ndeps =\n    pytest\n    dj5: Django>=5\n    ruff\n";
    let files = [
        (
            "setup.py",
            "from setuptools import setup\nsetup(name='p')\n",
        ),
        ("test_p.py", "import pytest\n"),
        ("tox.ini", tox),
    ];
    let folder = folder(&files);
    let mut repository = repository(folder.path());
    let head = format!("{tox}    django-test-migrations\n    black\n");
    repository
        .head_manifests
        .insert("tox.ini".to_owned(), head.into_bytes());
    assert_eq!(
        plan(&repository, &AnalysisOptions::default()).prefetch,
        [
            r#"bash "$ATLAS_ENV/toolbox/install-python" --add --day 2025-06-01 django-test-migrations"#
        ]
    );
}

#[test]
fn a_lockfile_that_the_pull_request_brings_is_fetched_as_it_is() {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\n",
        ),
        ("src/lib.rs", "#[test]\nfn t() {}\n"),
    ];
    let folder = folder(&files);
    let mut repository = repository(folder.path());
    let head = &mut repository.head_manifests;
    head.insert("Cargo.toml".to_owned(), files[0].1.into());
    let without = plan(&repository, &AnalysisOptions::default()).prefetch;
    assert!(
        without[0].starts_with("rm -f Cargo.lock && {"),
        "{without:?}"
    );
    let head = &mut repository.head_manifests;
    head.insert("Cargo.lock".to_owned(), b"version = 4\n".to_vec());
    let with = plan(&repository, &AnalysisOptions::default()).prefetch;
    assert_eq!(with, ["cargo fetch"]);
}

#[test]
fn a_prefetch_leaves_out_what_leads_into_its_own_copy() {
    let base = folder(&[
        (
            "pyproject.toml",
            "[project]\nname = \"My_Proj\"\n[project.optional-dependencies]\nplot = [\"ink\"]\n[build-system]\nrequires = []\n",
        ),
        ("test_p.py", "import pytest\n"),
        ("requirements/test.txt", "-e .\npytest\n"),
        ("requirements/base.txt", "attrs\n"),
        ("limits.txt", "attrs<99\n"),
    ]);
    let mut repository = repository(base.path());
    let head = "# see ./docs\n-e .\n--editable=.[plot]\n-e ../sub # a path\n-e ${ROOT}\n\
        -e git+https://example.org/a/tool@v1#egg=tool\n-e git+https://example.org/a/my-proj.git@v1\n\
        .\n./libs/one\nlibs/two[x]\n/libs/three\n.[plot] ; python_version > '3'\nwheels/four.whl\nfive-1.0.tar.gz\n\
        my.proj[plot] == 1.0 \\\n  --hash=sha256:00\nmy_proj @ https://example.org/p.zip\nsix @ file:///six\nfile:seven\n\
        -r base.txt\n-r absent.txt\n-r ../../outside.txt\n--constraint ../limits.txt\n\
        --find-links ./wheels\nidna>=3 \\\n  --hash=sha256:00\neight @ https://example.org/eight.zip # ./x\nmy-proj-plugin\n";
    for (path, text) in [
        ("requirements/test.txt", head),
        ("requirements/base.txt", "attrs\n-e .\n"),
    ] {
        repository
            .head_manifests
            .insert(path.to_owned(), text.into());
    }
    let plan = plan(&repository, &AnalysisOptions::default());
    let [command] = &plan.prefetch[..] else {
        panic!("{:?}", plan.prefetch)
    };
    assert!(
        command.ends_with(" --add --day 2025-06-01 ink -r requirements/test.txt"),
        "{command}"
    );
    // What pip would read, run where a prefetch runs: in a copy with head's manifests laid over.
    for (path, bytes) in &repository.head_manifests {
        fs::write(base.path().join(path), bytes).unwrap();
    }
    let read = "bash() { cat requirements/test.txt requirements/base.txt limits.txt; }";
    let output = std::process::Command::new("bash")
        .args(["-eo", "pipefail", "-c", &format!("{read}; {command}")])
        .current_dir(base.path())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "# see ./docs\n-e git+https://example.org/a/tool@v1#egg=tool\n-r base.txt\n--constraint ../limits.txt\n\
        --find-links ./wheels\nidna>=3 \\\n  --hash=sha256:00\neight @ https://example.org/eight.zip # ./x\nmy-proj-plugin\n\
        attrs\nattrs<99\n"
    );
}

#[test]
fn a_prefetch_sees_a_change_in_an_included_file() {
    let base = folder(&[
        ("requirements.txt", "-r more/a.txt\n"),
        ("more/a.txt", "-r ../requirements.txt\npytest\n"),
        ("test_p.py", "import pytest\n"),
    ]);
    let mut repository = repository(base.path());
    repository
        .head_manifests
        .insert("more/a.txt".to_owned(), "pytest\nidna\n".into());
    assert_eq!(
        plan(&repository, &AnalysisOptions::default()).prefetch,
        ["bash \"$ATLAS_ENV/toolbox/install-python\" --add --day 2025-06-01 -r requirements.txt"]
    );
}

#[test]
fn an_unknown_system_package_of_ci_stops_no_build() {
    let folder = folder(&[
        ("requirements.txt", "psycopg2\npytest\n"),
        ("test_p.py", "import pytest\n"),
        (
            ".github/workflows/t.yml",
            "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n    - run: |\n        sudo apt-get install -y -t noble libgl1-mesa-glx libpq-dev ${{ matrix.pkg }} \\\n          linux-headers-$(uname -r) libxosd-dev cmake\n        pytest\n",
        ),
    ]);
    let plan = plan(&repository(folder.path()), &AnalysisOptions::default());
    let names = [
        "build-essential",
        "cmake",
        "libgl1-mesa-glx",
        "libpq-dev",
        "libxosd-dev",
    ];
    assert_eq!(plan.apt_packages, names);
    let drift = plan.drift.join("\n");
    assert!(drift.contains("libgl1-mesa-glx, libxosd-dev"), "{drift}");
    // Debian's apt: all of the names or none.
    let system = r#"
        rm() { :; }
        apt-get() { case "$*" in *mesa-glx*) return 100;; install*) echo "${*:4}";; esac; }"#;
    let mut said = String::new();
    for command in &plan.pre_install {
        let output = std::process::Command::new("bash")
            .args(["-eo", "pipefail", "-c", &format!("{system}\n{command}")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}");
        said.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(
        said,
        "build-essential cmake libpq-dev\natlas: not installed: libgl1-mesa-glx\nlibxosd-dev\n"
    );
}

#[test]
fn a_runner_without_a_parser_is_a_verdict() {
    let folder = folder(PYTHON);
    let options = AnalysisOptions {
        known_parsers: vec!["unittest".to_owned()],
        ..AnalysisOptions::default()
    };
    assert_eq!(
        verdict(&repository(folder.path()), &options),
        "the tests run under pytest, for which this version has no parser"
    );
    let console_only = AnalysisOptions {
        known_parsers: vec!["pytest".to_owned()],
        ..AnalysisOptions::default()
    };
    let plan = plan(&repository(folder.path()), &console_only);
    assert_eq!(plan.report, None);
    assert!(!plan.test_cmd.contains("junit"), "{}", plan.test_cmd);
}

#[test]
fn the_language_with_tests_wins_and_an_option_overrules() {
    let folder = folder(&[
        ("package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("a.js", ""),
        ("b.js", ""),
        ("c.js", ""),
        ("go.mod", "module m\n"),
        ("m_test.go", "package m\n"),
    ]);
    let repository = repository(folder.path());
    let mut options = AnalysisOptions::default();
    assert_eq!(plan(&repository, &options).language, "go");
    options.language = Some("javascript".to_owned());
    assert_eq!(plan(&repository, &options).language, "javascript");
    options.language = Some("cobol".to_owned());
    let why = analyse(&repository, &options).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(why.subject().contains("cobol"), "{why}");
}

#[test]
fn an_unknown_folder_is_an_error_and_an_empty_one_a_verdict() {
    let folder = folder(&[]);
    let options = AnalysisOptions::default();
    assert!(verdict(&repository(folder.path()), &options).starts_with("no manifest of a language"));
    let why = analyse(&repository(&folder.path().join("absent")), &options).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::NotFound);
}

#[test]
fn broken_manifests_give_verdicts_or_plans_but_never_panic() {
    let texts = [
        "",
        "\u{feff}",
        "{",
        "[",
        "[[[[",
        "- a: &x [*x]\n",
        "\0\0",
        "é = \"ü\"\n[é]\n",
        "^~*",
        "<a><b>${x}</b>",
        "<project><modules><module>.</module><module>../..</module></modules><parent><relativePath>.</relativePath></parent></project>",
        "<project><properties><x>${y}${y}</x><y>${x}${x}</y><java.version>${x}</java.version></properties><target name=\"test\" depends=\"test\"><junit/></target></project>",
    ];
    let names = [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "poetry.lock",
        "package.json",
        "package-lock.json",
        "go.mod",
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain",
        ".nvmrc",
        ".python-version",
        ".github/workflows/a.yml",
        ".travis.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "azure-pipelines.yml",
        "appveyor.yml",
        ".cirrus.yml",
        "Dockerfile",
        ".devcontainer.json",
        "Gemfile",
        "Gemfile.lock",
        "Rakefile",
        "x.gemspec",
        "composer.json",
        "composer.lock",
        "phpunit.xml",
        "pom.xml",
        ".mvn/wrapper/maven-wrapper.properties",
        "build.gradle",
        "gradle/wrapper/gradle-wrapper.properties",
        "build.xml",
        ".sdkmanrc",
        "global.json",
        "T.Tests.csproj",
        "Directory.Build.props",
    ];
    for name in names {
        for text in texts {
            let folder = folder(&[
                (name, text),
                ("test_a.py", "import unittest\n"),
                ("a_test.go", ""),
                ("src/lib.rs", "#[test]"),
                ("test/a.js", ""),
                ("test/a_test.rb", ""),
                ("tests/ATest.php", ""),
                ("src/test/java/ATest.java", ""),
                ("ATests.cs", "    [Fact]\n"),
            ]);
            for language in languages() {
                let options = AnalysisOptions {
                    language: Some(language.to_owned()),
                    ..AnalysisOptions::default()
                };
                analyse(&repository(folder.path()), &options).unwrap();
            }
        }
    }
}

#[test]
fn manifests_that_call_themselves_end() {
    let calls = "npm run test && ".repeat(5_000);
    let package = format!(r#"{{"scripts":{{"test":"{calls} jest"}}}}"#);
    let includes = r#"{ include-group = "test" },"#.repeat(5_000);
    let pyproject = format!("[dependency-groups]\ntest = [\"pytest\", {includes}]\n");
    let folder = folder(&[
        ("package.json", &package),
        ("pyproject.toml", &pyproject),
        ("test_a.py", "import pytest\n"),
    ]);
    for language in ["javascript", "python"] {
        let options = AnalysisOptions {
            language: Some(language.to_owned()),
            ..AnalysisOptions::default()
        };
        assert_eq!(
            plan(&repository(folder.path()), &options).language,
            language
        );
    }
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let outside = folder(&[("secret.toml", "[package]\nname = \"secret\"\n")]);
    let inside = folder(&[("tests/a.rs", "#[test]\nfn a() {}\n")]);
    let link = inside.path().join("Cargo.toml");
    std::os::unix::fs::symlink(outside.path().join("secret.toml"), link).unwrap();
    let options = AnalysisOptions::default();
    assert!(verdict(&repository(inside.path()), &options).starts_with("no manifest of a language"));
}

#[test]
fn python_tests_need_no_manifest() {
    let inside = folder(&[
        ("calc/__init__.py", "def one():\n    return 1\n"),
        ("tests/__init__.py", ""),
        (
            "tests/test_calc.py",
            "import unittest\nfrom calc import one\n",
        ),
    ]);
    let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
    assert_eq!(plan.log_parser_name, "unittest");
    assert!(
        !plan.build.iter().any(|step| step.contains("pip install")),
        "{:?}",
        plan.build
    );
}

#[test]
fn inventories_are_bash_and_print_nothing_for_strangers() {
    for language in languages() {
        assert!(inventory_script(language).contains("tool\\t"), "{language}");
        let checked = std::process::Command::new("bash")
            .args(["-n", "-c", inventory_script(language)])
            .status()
            .unwrap();
        assert!(checked.success(), "{language}");
    }
    assert_eq!(inventory_script("cobol"), "true");
}

#[test]
fn what_ci_sets_for_tests_goes_into_the_plan() {
    let workflow = "env: {CI_MODE: x}\njobs:\n  test:\n    runs-on: ubuntu-latest\n    env:\n      TZ: Asia/Tokyo\n      LC_TIME: de_DE.UTF-8\n      API_TOKEN: abc\n      PYTEST_ADDOPTS: --color=yes\n      PYTHONPATH: ${{ github.workspace }}:./lib\n      P_MODE: fast\n      P_URL: http://localhost:1\n      P_VARIANT: one\n      UNREAD: 1\n    steps:\n    - run: pytest\n    - env: {P_VARIANT: two, P_PURE: 1}\n      run: pytest\n    - env: {P_SLOW: 1}\n      run: pytest slow\n  docs:\n    runs-on: ubuntu-latest\n    env: {DJANGO_SETTINGS_MODULE: p.docs}\n    steps: [{run: make html}]\n";
    let reads = "import os\nCI_MODE = 1\nos.environ['API_TOKEN']\nmode = os.environ['P_MODE']\nNAMES = ['P_URL', 'P_VARIANT', 'P_PURE', 'P_SLOW', 'NOT_UNREAD']\n";
    let files = [
        ("requirements.txt", "pytest\n"),
        ("test_p.py", "import pytest\n"),
        ("p.py", reads),
        (".github/workflows/t.yml", workflow),
    ];
    let with = folder(&files);
    let without = folder(&files[..3]);
    let options = AnalysisOptions::default();
    let with = plan(&repository(with.path()), &options);
    let without = plan(&repository(without.path()), &options);
    let new: Vec<String> = with
        .env
        .iter()
        .filter(|(name, _)| !without.env.contains_key(*name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        new,
        [
            "LC_TIME=C.UTF-8",
            "PYTHONPATH=$ATLAS_REPO:$ATLAS_REPO/lib",
            "P_MODE=fast",
            // Of its own command; P_PURE and the other P_VARIANT are of a second way to run the first.
            "P_SLOW=1",
            "P_VARIANT=one",
            "TZ=Asia/Tokyo"
        ]
    );
    let proof = format!("{:?}", with.evidence["env"]);
    assert!(
        proof.contains("p.py") && proof.contains("reads P_MODE"),
        "{proof}"
    );
    assert!(
        with.drift.iter().any(|line| line.contains("de_DE.UTF-8")),
        "{:?}",
        with.drift
    );
}

#[test]
fn every_service_names_versions() {
    for (file, text) in [
        (
            ".gitlab-ci.yml",
            "test: {image: 'python:3.9', script: pytest}\n",
        ),
        (
            ".circleci/config.yml",
            "jobs: {test: {docker: [{image: 'cimg/python:3.9'}], steps: [{run: pytest}]}}\n",
        ),
        (
            "azure-pipelines.yml",
            "steps:\n- task: UsePythonVersion@0\n  inputs: {versionSpec: '3.9'}\n- script: pytest\n",
        ),
        (
            "appveyor.yml",
            "image: Ubuntu\nstack: python 3.9\ntest_script: pytest\n",
        ),
        (
            ".cirrus.yml",
            "task: {container: {image: 'python:3.9'}, test_script: pytest}\n",
        ),
        (".travis.yml", "jobs: {include: [{python: 3.9}]}\n"),
        ("Dockerfile", "FROM python:3.9-slim\n"),
    ] {
        let inside = folder(&[
            ("requirements.txt", "pytest\n"),
            ("test_p.py", "import pytest\n"),
            (file, text),
        ]);
        let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
        assert_eq!(plan.base_image, "python:3.9-slim-bookworm", "{file}");
        let proof = &plan.evidence["docker_specs"];
        assert!(
            proof.iter().any(|line| line.source == file),
            "{file}: {proof:?}"
        );
    }
}
#[test]
fn the_toolchain_of_ruby_and_php_is_that_of_the_day() {
    let ruby = folder(&[
        ("Gemfile", "gem 'rspec'\n"),
        (
            "a.gemspec",
            "Gem::Specification.new { |s| s.required_ruby_version = '>= 2.5', '< 3.2' }\n",
        ),
        ("spec/a_spec.rb", "RSpec.describe('a') {}\n"),
    ]);
    let php = folder(&[
        (
            "composer.json",
            r#"{"require":{"php":">=7.1"},"require-dev":{"phpunit/phpunit":"^7.5 || ^8.5 || ^9.5"}}"#,
        ),
        ("tests/ATest.php", ""),
    ]);
    for (folder, date, image) in [
        (&ruby, "2018-03-01", "ruby:2.5-slim-buster"),
        (&ruby, "2021-06-01", "ruby:3.0-slim-bookworm"),
        (&ruby, "2024-06-01", "ruby:3.1-slim-bookworm"),
        (&php, "2019-06-01", "php:7.3-cli-bullseye"),
        (&php, "2022-06-01", "php:8.1-cli-bookworm"),
        (&php, "2026-06-01", "php:8.4-cli-bookworm"),
    ] {
        let mut repository = repository(folder.path());
        date.clone_into(&mut repository.base_date);
        let plan = plan(&repository, &AnalysisOptions::default());
        assert_eq!(plan.base_image, image, "{date}");
    }
}

/// Runs the loader of test files as a plan does, where this machine has a Ruby with minitest.
#[test]
fn a_ruby_test_file_that_does_not_load_is_lost_alone() {
    let folder = folder(&[
        ("Gemfile", "gem 'minitest'\n"),
        (
            "test/a_test.rb",
            "require 'minitest/autorun'\nUnknown::Constant\n",
        ),
        (
            "test/b_test.rb",
            "require 'minitest/autorun'\nclass BTest < Minitest::Test\n  def test_b\n    assert true\n  end\nend\n",
        ),
    ]);
    let plan = plan(&repository(folder.path()), &AnalysisOptions::default());
    let minitest = std::process::Command::new("ruby")
        .args(["-e", "require 'minitest'"])
        .output();
    if !minitest.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no Ruby with minitest");
        return;
    }
    let env = tempfile::tempdir().unwrap();
    for (path, text) in context_files(&plan).unwrap() {
        let path = env.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let command = plan.test_cmd.replace("bundle exec ", "");
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("{} && {command}", plan.build[0])])
        .current_dir(folder.path())
        .env("ATLAS_ENV", env.path())
        .output()
        .unwrap();
    let (said, warned) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(said.contains("BTest#test_b = "), "{said}\n{warned}");
    assert!(
        warned.contains("An error occurred while loading ./test/a_test.rb.")
            && warned.contains("uninitialized constant Unknown (NameError)"),
        "{warned}"
    );
    assert!(!output.status.success());
}

#[test]
fn versions_of_an_earlier_environment_are_taken_again() {
    let folder = folder(PYTHON);
    let repository = repository(folder.path());
    let options = AnalysisOptions {
        pins: ["attrs==25.3.0", "pip==23.0.1", "odd; rm -rf ~"]
            .map(str::to_owned)
            .to_vec(),
        ..AnalysisOptions::default()
    };
    let plan = plan(&repository, &options);
    assert_eq!(
        plan.setup.last().unwrap(),
        r#"mkdir -p "$ATLAS_ENV" && printf '%s\n' attrs==25.3.0 'odd; rm -rf ~' > "$ATLAS_ENV/resolved.lock""#
    );
    assert!(plan.drift.is_empty(), "{:?}", plan.drift);
}
