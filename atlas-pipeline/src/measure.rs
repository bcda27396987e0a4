//! Metrics over files: stored values, results, the report.

use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_judge::metrics::analysis::{Analysis, AnalysisOptions, analyse};
use atlas_judge::metrics::results::{Results, read_results};
use atlas_judge::metrics::{CheckReport, Fault, check};
use atlas_judge::policies_report;
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::Path;

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

/// Analyses a results file; `-` is standard input.
///
/// # Errors
/// The file cannot be read, or a line of it has a fault, which is named by line and field. A bug has
/// fewer runs than `k` and that is to be an error.
pub fn measure(path: &Path, options: &AnalysisOptions) -> Result<Analysis, Error> {
    let read = || -> Result<Results, Error> {
        let wrong = |why| {
            Error::new(ErrorKind::InvalidInput, "read", path.display().to_string()).with_source(why)
        };
        if path == Path::new("-") {
            return read_results(stdin().lock()).map_err(wrong);
        }
        let file = File::open(path).map_err(|why| Error::io("open", path, why))?;
        read_results(BufReader::new(file)).map_err(wrong)
    };
    analyse(&read()?, options).map_err(|why| {
        let subject = path.display().to_string();
        Error::new(ErrorKind::InvalidInput, "measure", subject).with_source(why)
    })
}

/// Analyses a results file and writes the page of it.
///
/// # Errors
/// As [`measure`]; the page cannot be written.
pub fn report_policies(
    results: &Path,
    options: &AnalysisOptions,
    title: &str,
    out: &Path,
) -> Result<Analysis, Error> {
    let analysis = measure(results, options)?;
    write_atomically(out, policies_report(&analysis, title).as_bytes())?;
    Ok(analysis)
}
