//! Each sample repository's CI, told in lines, against the snapshot beside it.

use super::Ci;
use crate::tree::Tree;
use std::fmt::Write as _;
use std::path::Path;

/// All that languages can learn from a repository's CI.
fn told(ci: &Ci) -> String {
    let mut told = String::new();
    for job in ci.jobs.iter().chain(&ci.containers) {
        let tests = if job.tests() { ": tests" } else { "" };
        let _ = writeln!(told, "{}{tests}", job.name.trim());
        for action in ["toolchain", "image", "travis"] {
            for key in [
                "*", "python", "node", "go", "rust", "ruby", "php", "java", "dotnet", "gcc",
                "clang", "maven", "rvm", "jdk", "compiler",
            ] {
                for value in job.values(action, key) {
                    let (file, line) = (&value.file, value.line);
                    let _ = writeln!(told, "  {action} {key} {} {file}:{line}", value.text);
                }
            }
        }
        for service in &job.services {
            let image = &service.image;
            let _ = writeln!(told, "  beside {} :{}", image.text, image.line);
        }
        for (name, value) in &job.env {
            let _ = writeln!(told, "  env {name}={} :{}", value.text, value.line);
        }
        for (name, value) in &job.apt {
            let _ = writeln!(told, "  apt {name} :{}", value.line);
        }
        for option in &job.options {
            let _ = writeln!(told, "  option {} :{}", option.text, option.line);
        }
        for command in &job.commands {
            let folder = job.directory(command).unwrap_or_default();
            let (file, line) = (&command.file, command.line);
            let _ = writeln!(told, "  {folder}$ {} {file}:{line}", command.text);
        }
    }
    told
}

#[test]
fn samples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ci/samples");
    let mut samples: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    samples.sort();
    assert!(samples.len() >= 8);
    for sample in samples {
        let ci = Ci::read(&Tree::open(&sample).unwrap());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = sample.file_name().unwrap().to_string_lossy().into_owned();
        settings.bind(|| insta::assert_snapshot!(name, told(&ci)));
    }
}
