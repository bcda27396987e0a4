//! Metrics over files: stored values, results, the report.

use crate::judging::{PATCH_ID_DIGITS, StoredVerdict};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_judge::metrics::analysis::{
    Analysis, AnalysisOptions, analyse, analyse_calibrated_on, cascade_curves,
};
use atlas_judge::metrics::results::{ResultLine, Results, ResultsError, ResultsReader, TestTruth};
use atlas_judge::metrics::{CheckReport, Fault, check};
use atlas_judge::policies_report;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::{Path, PathBuf};

/// A file of stored values and how it compares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedFile {
    /// As it was named.
    pub file: String,
    /// Whether everything in it agrees.
    pub agrees: bool,
    /// What was compared, and what differs.
    #[serde(flatten)]
    pub report: CheckReport,
}

/// Evaluates a file of stored values. One that cannot be read or is no JSON has that as its fault,
/// so that it does not keep others from being checked.
pub fn check_file(path: &Path) -> CheckedFile {
    let file = path.display().to_string();
    let read = std::fs::read(path)
        .map_err(|why| format!("cannot be read: {why}"))
        .and_then(|bytes| {
            serde_json::from_slice(&bytes).map_err(|why| format!("is no JSON: {why}"))
        });
    let report = match read {
        Ok(value) => check(&value),
        Err(message) => CheckReport {
            faults: vec![Fault {
                case: None,
                field: None,
                message,
            }],
            ..CheckReport::default()
        },
    };
    CheckedFile {
        file,
        agrees: report.agrees(),
        report,
    }
}

/// What is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasureInput {
    /// Results files, read as one; `-` is standard input.
    pub results: Vec<PathBuf>,
    /// Results files of judges that are compared, such as two models, each with its judge's name: each judge is
    /// measured with its own files and what the others above say.
    pub judges: Vec<(String, PathBuf)>,
    /// Folders of evaluations, `logs/run_evaluation/<run id>`: their verdicts are the truth about the
    /// patches, test by test.
    pub evaluations: Vec<PathBuf>,
    /// Results files about other tasks, read as one, to which calibrations are fitted instead of to halves of the tasks.
    /// They name which patches resolve their task, or the evaluations do. Not with several judges, whose scores differ.
    pub calibrate_on: Vec<PathBuf>,
}

/// Analyses results files.
///
/// # Errors
/// A file cannot be read, or a line of it has a fault, which is named by line and field. A folder of
/// evaluations holds no verdict. A bug has fewer runs than `k` and that is to be an error.
pub fn measure(input: &MeasureInput, options: &AnalysisOptions) -> Result<Analysis, Error> {
    if input.judges.is_empty() {
        if options.cascade_step.is_some() {
            return Err(few_judges());
        }
        return Ok(measure_one(input, options)?.0);
    }
    if !input.calibrate_on.is_empty() {
        let why = "results to calibrate on are one judge's, and several are compared";
        return Err(Error::new(ErrorKind::InvalidInput, "measure", why));
    }
    let mut parts: Vec<(String, MeasureInput)> = Vec::new();
    for (name, path) in &input.judges {
        let at = parts.iter().position(|(known, _)| known == name);
        let at = at.unwrap_or_else(|| {
            let common = MeasureInput {
                judges: Vec::new(),
                ..input.clone()
            };
            parts.push((name.clone(), common));
            parts.len() - 1
        });
        parts[at].1.results.push(path.clone());
    }
    if parts
        .iter()
        .any(|(_, part)| part.results.contains(&"-".into()))
        && parts.len() > 1
    {
        let why = "standard input is read once, and cannot be common to several judges";
        return Err(Error::new(ErrorKind::InvalidInput, "measure", why));
    }
    let mut measured = Vec::new();
    let mut read: Vec<(String, Results)> = Vec::new();
    for (name, part) in parts {
        let (analysis, results) = measure_one(&part, options)?;
        measured.push((name.clone(), analysis));
        read.push((name, results));
    }
    let mut all = Analysis::beside(measured, options);
    if let Some(step) = options.cascade_step {
        if read.len() < 2 {
            return Err(few_judges());
        }
        for (at, (second, of_second)) in read.iter().enumerate() {
            for (first, of_first) in &read[..at] {
                let (first, second) = ((first.as_str(), of_first), (second.as_str(), of_second));
                let found = cascade_curves(first, second, step, options);
                all.cascades.extend(found.map_err(|why| {
                    Error::new(ErrorKind::InvalidInput, "measure", "cascades").with_source(why)
                })?);
            }
        }
    }
    Ok(all)
}

fn few_judges() -> Error {
    let why =
        "a cascade is of two judges; name their files, the cheaper one first: cheap=FILE dear=FILE";
    Error::new(ErrorKind::InvalidInput, "measure", why)
}

fn measure_one(
    input: &MeasureInput,
    options: &AnalysisOptions,
) -> Result<(Analysis, Results), Error> {
    let truths: Result<Vec<(&Path, String)>, Error> = input
        .evaluations
        .iter()
        .map(|folder| Ok((folder.as_path(), truth(folder)?)))
        .collect();
    let truths = truths?;
    let results = read(&input.results, &truths)?;
    let found = if input.calibrate_on.is_empty() {
        analyse(&results, options)
    } else {
        analyse_calibrated_on(&results, &read_other(input, &truths)?, options)
    };
    let found = found.map_err(|why| {
        let subjects = input.results.iter().chain(&input.evaluations);
        let names: Vec<String> = subjects.map(|path| path.display().to_string()).collect();
        Error::new(ErrorKind::InvalidInput, "measure", names.join(", ")).with_source(why)
    })?;
    Ok((found, results))
}

/// The results to calibrate on.
fn read_other(input: &MeasureInput, truths: &[(&Path, String)]) -> Result<Results, Error> {
    if input.calibrate_on.contains(&"-".into()) {
        let why = "results to calibrate on are files, not standard input";
        return Err(Error::new(ErrorKind::InvalidInput, "read", why));
    }
    read(&input.calibrate_on, truths)
}

/// Results files and what evaluations found, as one.
fn read(files: &[PathBuf], truths: &[(&Path, String)]) -> Result<Results, Error> {
    let mut reader = ResultsReader::default();
    let is_one = files.len() + truths.len() == 1;
    let wrong = |subject: &Path, why: ResultsError| {
        let subject = subject.display().to_string();
        Error::new(ErrorKind::InvalidInput, "read", subject).with_source(why)
    };
    for (folder, truth) in truths {
        let name = folder.display().to_string();
        let read = reader.add(truth.as_bytes(), &name);
        read.map_err(|why| wrong(folder, why))?;
    }
    for path in files {
        let name = if is_one {
            String::new()
        } else {
            path.display().to_string()
        };
        let read = if path == Path::new("-") {
            reader.add(stdin().lock(), &name)
        } else {
            let file = File::open(path).map_err(|why| Error::io("open", path, why))?;
            reader.add(BufReader::new(file), &name)
        };
        read.map_err(|why| wrong(path, why))?;
    }
    Ok(reader.finish())
}

/// The verdicts below a folder as lines of a results file, in the order of their paths. Verdicts that
/// nothing could be found out about are no truth.
fn truth(folder: &Path) -> Result<String, Error> {
    let mut text = String::new();
    for verdict in StoredVerdict::below(folder)? {
        let is_graded = verdict.is_graded();
        let Some(hash) = verdict.patch_sha256.filter(|_| is_graded) else {
            continue;
        };
        let mut tests = BTreeMap::new();
        for list in [verdict.fail_to_pass, verdict.pass_to_pass] {
            let list = list.unwrap_or_default();
            tests.extend(list.success.into_iter().map(|id| (id, true)));
            tests.extend(list.failure.into_iter().map(|id| (id, false)));
        }
        let line = ResultLine {
            instance_id: verdict.instance_id,
            patch_id: hash.chars().take(PATCH_ID_DIGITS).collect(),
            agent: verdict.model_name_or_path,
            resolved: Some(verdict.resolved),
            tests: Some(
                tests
                    .into_iter()
                    .map(|(id, passed)| TestTruth {
                        id,
                        passed,
                        length: None,
                    })
                    .collect(),
            ),
            abstention: None,
            deterministic: None,
            validation: None,
            critic: None,
            kind: None,
            paid: None,
            kept: None,
            members: None,
            patch_size: None,
        };
        let line = serde_json::to_string(&line).map_err(|why| {
            Error::new(ErrorKind::Internal, "write", "a line of results").with_source(why)
        })?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

/// Analyses a results file and writes the page of it.
///
/// # Errors
/// As [`measure`]; the page cannot be written.
pub fn report_policies(
    input: &MeasureInput,
    options: &AnalysisOptions,
    title: &str,
    out: &Path,
) -> Result<Analysis, Error> {
    let analysis = measure(input, options)?;
    write_atomically(out, policies_report(&analysis, title).as_bytes())?;
    Ok(analysis)
}
