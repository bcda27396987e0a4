//! Every sample repository, analysed and rendered, against its snapshot beside it.

use crate::analysis::repository;
use atlas_core::EnvironmentPlan;
use atlas_docker::{Analysis, AnalysisOptions, analyse, context_files, languages, render};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages")
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(path)
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_folder_is_a_language_and_every_language_a_folder() {
    let in_table: BTreeSet<String> = languages().map(str::to_owned).collect();
    let on_disk: BTreeSet<String> = folders(&root()).iter().map(|path| name(path)).collect();
    assert_eq!(in_table, on_disk);
}

/// The scripts that a Dockerfile runs, one below the other; those that are the same in every
/// environment are read in their own files.
fn scripts(plan: &EnvironmentPlan) -> String {
    let files = context_files(plan).unwrap();
    let own = files.iter().filter(|(path, _)| {
        !["toolbox/", "scripts/archive.sh"]
            .iter()
            .any(|common| path.starts_with(common))
    });
    let texts: Vec<String> = own
        .map(|(path, text)| format!("==> {path}\n{text}"))
        .collect();
    texts.concat()
}

#[test]
fn samples() {
    for language in folders(&root()) {
        let samples = folders(&language.join("samples"));
        assert!(samples.len() >= 5, "{}: too few samples", name(&language));
        for sample in samples {
            let mut repository = repository(&sample);
            // What a pull request touches, where a sample is about that.
            let touched = fs::read_to_string(sample.with_extension("touched")).unwrap_or_default();
            repository.touched = touched.lines().map(str::to_owned).collect();
            let analysis = analyse(&repository, &AnalysisOptions::default()).unwrap();
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(language.join("samples"));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| match analysis {
                Analysis::Plan(plan) => {
                    assert_eq!(plan.language, name(&language), "{}", sample.display());
                    for field in ["docker_specs", "test_cmd", "log_parser_name", "language"] {
                        assert!(plan.evidence.contains_key(field), "{field} has no proof");
                    }
                    let dockerfile = format!("{}{}", render(&plan).unwrap(), scripts(&plan));
                    for line in dockerfile.lines().filter(|line| line.starts_with("RUN ")) {
                        assert!(line.len() <= 200, "a line for people: {line}");
                    }
                    insta::assert_json_snapshot!(format!("{}.plan", name(&sample)), plan);
                    insta::assert_snapshot!(format!("{}.Dockerfile", name(&sample)), dockerfile);
                }
                Analysis::Verdict {
                    reason, evidence, ..
                } => {
                    assert!(!evidence.is_empty(), "{reason}: no proof");
                    let verdict = serde_json::json!({ "reason": reason, "evidence": evidence });
                    insta::assert_json_snapshot!(format!("{}.verdict", name(&sample)), verdict);
                }
            });
        }
    }
}
