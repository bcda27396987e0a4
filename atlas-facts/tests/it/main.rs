//! The tables, and that no other crate keeps one of its own.

mod alone;
mod cycles;

use atlas_facts::{
    Family, FolderOfTests, Language, PACKAGE_FILES, Role, ending_of, fits, folder_of_tests,
    language_of, lockfiles, package_file, project_files,
};

#[test]
fn no_line_of_package_files_is_hidden_by_another() {
    for file in PACKAGE_FILES {
        let path = file.name.replace('*', "x");
        let found = package_file(&path).unwrap();
        assert_eq!(found.name, file.name, "{path}");
    }
}

#[test]
fn a_package_file_is_known_wherever_it_lies_and_in_any_letters() {
    let of = |path: &str| package_file(path).map(|file| (file.manager, file.role));
    assert_eq!(of("a/b/poetry.lock"), Some(("poetry", Role::Lock)));
    assert_eq!(of("NuGet.Config"), Some(("nuget", Role::Settings)));
    assert_eq!(of("tools/thing.gemspec"), Some(("rubygems", Role::Build)));
    assert_eq!(of("dev-requirements.txt"), Some(("pip", Role::List)));
    assert_eq!(of("requirements/edx/base.txt"), Some(("pip", Role::List)));
    assert_eq!(of("gradle/deps.gradle"), Some(("gradle", Role::Build)));
    assert_eq!(of(".mvn/jvm.config"), Some(("maven", Role::Beside)));
    assert_eq!(of("docs/package.json.md"), None);
    assert_eq!(of("yarn.lock/readme"), None);
}

#[test]
fn roles_answer_what_is_asked_of_a_file() {
    let role = |name: &str| package_file(name).unwrap().role;
    assert!(role("pyproject.toml").declares() && !role("pyproject.toml").is_about_dependencies());
    assert!(role("Cargo.toml").declares() && role("Cargo.toml").is_about_dependencies());
    assert!(!role("Cargo.lock").declares() && role("Cargo.lock").is_about_dependencies());
    assert!(!role(".npmrc").declares() && !role(".npmrc").is_about_dependencies());
    let in_root: Vec<_> = project_files()
        .filter(|file| file.family == Family::Python)
        .map(|file| file.name)
        .collect();
    assert_eq!(
        in_root,
        [
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "tox.ini",
            "noxfile.py"
        ]
    );
    let python: Vec<_> = lockfiles(Family::Python).map(|file| file.name).collect();
    assert_eq!(
        python,
        [
            "uv.lock",
            "poetry.lock",
            "pdm.lock",
            "requirements-dev.lock",
            "requirements.lock",
            "Pipfile.lock"
        ]
    );
}

#[test]
fn languages_are_told_by_endings_and_some_names() {
    for (path, language) in [
        ("a.c", Some(Language::C)),
        ("a.C", Some(Language::Cpp)),
        ("a.h", Some(Language::C)),
        ("x/A.PY", Some(Language::Python)),
        ("x.test.tsx", Some(Language::TypeScript)),
        ("lib/Rakefile", Some(Language::Ruby)),
        ("build.gradle.kts", Some(Language::Kotlin)),
        ("py", None),
        ("folder.rs/README", None),
        ("a.txt", None),
    ] {
        assert_eq!(language_of(path), language, "{path}");
    }
    assert!(ending_of("a.cpp").unwrap().holds_tests);
    assert!(!ending_of("a.hpp").unwrap().holds_tests);
    assert_eq!(Language::Vue.family(), Family::JavaScript);
    assert!(!Language::Vue.is_javascript());
}

#[test]
fn folders_say_how_sure_they_are() {
    assert_eq!(folder_of_tests("TestData"), Some(FolderOfTests::Certain));
    assert_eq!(folder_of_tests("tests"), Some(FolderOfTests::Usual));
    assert_eq!(folder_of_tests("spec"), Some(FolderOfTests::AtRoot));
    assert_eq!(folder_of_tests("t"), Some(FolderOfTests::Doubtful));
    assert_eq!(folder_of_tests("latest"), None);
}

#[test]
fn a_pattern_is_a_whole_name() {
    assert!(fits("*.mvn/*", "a/.mvn/wrapper/x"));
    assert!(fits("TEST_*.py", "test_a.py"));
    assert!(!fits("*_test.go", "a_test.go.txt"));
    assert!(!fits("", "a"));
}
