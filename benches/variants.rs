//! What it costs to show a patch to a judge: milliseconds per patch of each variant, beside two limits
//! measured in the same run on the same files: parsing them with tree-sitter alone, before and after the
//! patch, which is the least that any reader of functions must do; and `git apply`.
//!
//! ```text
//! cargo bench -p atlas-benches --bench variants
//! ATLAS_BENCH_PATCHES=FOLDER cargo bench …   # also real patches
//! ```
//!
//! The folder holds `CASE/patch.diff` and the files that it changes below `CASE/base/`. Times of this
//! process are CPU time; those of git are wall time, its start included.

use atlas_benches::{SOURCE_LANGUAGES, patch_of, source_of};
use atlas_core::Patch;
use atlas_judge::variant::{BaseFiles, Variant, render};
use atlas_syntax::{Language, parse};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A patch with the files that it changes.
struct Case {
    group: String,
    patch: Patch,
    base: BaseFiles,
}

/// Milliseconds.
struct Times {
    /// In the order of [`Variant::ALL`].
    variants: [f64; 3],
    parse: f64,
    git: Option<f64>,
    /// Files that could not be shown as functions.
    notes: usize,
    bytes: usize,
}

/// CPU milliseconds of this process so far.
#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of a process that runs for minutes"
)]
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// The best of several runs: noise only ever adds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    let begun = cpu();
    for round in 0..20 {
        let start = cpu();
        black_box(work());
        best = best.min(cpu() - start);
        if round > 1 && cpu() - begun > 60.0 {
            break;
        }
    }
    best
}

/// Wall time of `git apply`, and the files behind it; none where git refuses.
fn git_apply(case: &Case) -> std::io::Result<Option<(f64, BaseFiles)>> {
    let folder = tempfile::tempdir()?;
    let mut best = f64::MAX;
    for _ in 0..3 {
        for (path, content) in &case.base {
            let path = folder.path().join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        let start = Instant::now();
        let mut child = Command::new("git")
            .args(["apply", "--whitespace=nowarn", "-"])
            .current_dir(folder.path())
            .env("GIT_CEILING_DIRECTORIES", folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(case.patch.as_bytes())?;
        }
        if !child.wait()?.success() {
            return Ok(None);
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        // New files would be in the way of the next round.
        if case.base.is_empty() {
            break;
        }
    }
    let after = case.base.keys().filter_map(|path| {
        let content = std::fs::read(folder.path().join(path)).ok()?;
        Some((path.clone(), content))
    });
    Ok(Some((best, after.collect())))
}

fn measure(case: &Case) -> std::io::Result<Times> {
    let show = |variant| render(&case.patch, &case.base, variant);
    let notes = show(Variant::Function).map_or(0, |shown| shown.notes.len());
    let applied = git_apply(case)?;
    let after = applied.as_ref().map(|(_, after)| after);
    let files: Vec<(Language, &[u8])> = case
        .base
        .iter()
        .chain(after.into_iter().flatten())
        .filter_map(|(path, text)| Some((Language::of_path(path)?, text.as_slice())))
        .collect();
    Ok(Times {
        variants: Variant::ALL.map(|variant| best(|| show(variant))),
        parse: best(|| {
            for (language, text) in &files {
                black_box(parse(*language, text));
            }
        }),
        git: applied.as_ref().map(|(time, _)| *time),
        notes,
        bytes: files.iter().map(|(_, text)| text.len()).sum(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a count of patches")]
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes of sources, to three digits"
)]
fn row(out: &mut impl Write, label: &str, times: &[Times]) -> std::io::Result<()> {
    let of = |at: usize| mean(times.iter().map(|one| one.variants[at]));
    let parse = mean(times.iter().map(|one| one.parse));
    let slowest = times.iter().map(|one| one.variants[1]).fold(0.0, f64::max);
    let notes: usize = times.iter().map(|one| one.notes).sum();
    let size = mean(times.iter().map(|one| one.bytes as f64 / 1e3));
    let git = mean(times.iter().filter_map(|one| one.git));
    writeln!(
        out,
        "{label:<24} {:>5} {size:>8.1} {:>9.3} {:>9.3} {:>9.3} {slowest:>9.3} {parse:>9.3} {:>7.2}x {:>7.2}x {git:>7.2} {notes:>6}",
        times.len(),
        of(0),
        of(1),
        of(2),
        of(1) / parse,
        of(2) / parse,
    )
}

/// Cases below a folder, grouped by the language of the first file that has one.
fn real(folder: &Path) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.sort();
    for name in names {
        let Ok(patch) = std::fs::read(name.join("patch.diff")) else {
            continue;
        };
        let mut base = BaseFiles::new();
        collect(&name.join("base"), &name.join("base"), &mut base)?;
        let language = base.keys().find_map(|path| Language::of_path(path));
        cases.push(Case {
            group: language.map_or("other".to_owned(), |language| format!("{language:?}")),
            patch: Patch::new(patch),
            base,
        });
    }
    cases.sort_by(|a, b| a.group.cmp(&b.group));
    Ok(cases)
}

fn collect(root: &Path, folder: &Path, files: &mut BaseFiles) -> std::io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(()); // a patch that only adds files
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.insert(name.to_string_lossy().into_owned(), std::fs::read(&path)?);
        }
    }
    Ok(())
}

fn table(out: &mut impl Write, title: &str, cases: &[Case]) -> std::io::Result<()> {
    writeln!(
        out,
        "\n{title:<24} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7} {:>6}",
        "n",
        "kB read",
        "default",
        "function",
        "post",
        "slowest",
        "parse",
        "f/parse",
        "p/parse",
        "git",
        "notes"
    )?;
    let mut all = Vec::new();
    for group in cases.chunk_by(|a, b| a.group == b.group) {
        let times: Vec<Times> = group.iter().map(measure).collect::<Result<_, _>>()?;
        row(out, &group[0].group, &times)?;
        all.extend(times);
    }
    row(out, "all", &all)
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let generated: Vec<Case> = SOURCE_LANGUAGES
        .iter()
        .flat_map(|(language, extension)| {
            [20, 200].map(|functions| {
                let path = format!("src/module.{extension}");
                let text = source_of(language, functions);
                Case {
                    group: format!("{language} {functions} functions"),
                    patch: Patch::new(patch_of(&path, &text)),
                    base: BaseFiles::from([(path, text.into_bytes())]),
                }
            })
        })
        .collect();
    table(&mut out, "generated, ms", &generated)?;
    if let Some(folder) = std::env::var_os("ATLAS_BENCH_PATCHES") {
        table(&mut out, "real, ms", &real(Path::new(&folder))?)?;
    }
    Ok(())
}
