//! Prints the plan and the Dockerfile of a folder: `cargo run --example analyse -- FOLDER [DATE]`.

use atlas_core::{CommitSha, Repository};
use atlas_docker::{Analysis, AnalysisOptions, analyse, render};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let checkout = PathBuf::from(arguments.next().ok_or("usage: analyse FOLDER [DATE]")?);
    let repository = Repository {
        name: "example".to_owned(),
        checkout,
        base: "0".repeat(40).parse::<CommitSha>()?,
        base_date: arguments.next().unwrap_or_default(),
        head_manifests: BTreeMap::new(),
    };
    let mut out = std::io::stdout().lock();
    match analyse(&repository, &AnalysisOptions::default())? {
        Analysis::Plan(plan) => {
            writeln!(out, "{}\n", serde_json::to_string_pretty(&plan)?)?;
            writeln!(out, "{}", render(&plan)?)?;
        }
        Analysis::Verdict { reason, evidence } => {
            writeln!(out, "no plan: {reason}")?;
            for line in evidence {
                let place = line.line.map_or_else(String::new, |at| format!(":{at}"));
                writeln!(out, "  {}{place}: {}", line.source, line.text)?;
            }
        }
    }
    Ok(())
}
