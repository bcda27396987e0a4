//! The dataset row and the dataset.

use super::reader::Reader;
use super::{MakeOptions, PullRequest, sourced};
use crate::own_parser::{OwnParser, ParserOrigin};
use crate::store::lock;
use crate::{eval_script, write_atomically};
use atlas_core::{Environment, Error, ErrorKind, Instance, InstanceId, OracleReport, TestList};
use atlas_parsers::RowCertificate;
use atlas_source::{Side, SplitPullRequest};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The row: classic columns, those of version 5 of the harness, SWE-bench++'s environment, and one
/// column of ours. Without a reader of the harness it holds our parser's name. A parser that is not
/// shipped stands in it whole, so that nothing else is needed to grade the row.
pub(super) fn row(
    options: &MakeOptions,
    request: &PullRequest,
    split: &SplitPullRequest,
    (environment, image): (&Environment, &str),
    report: &OracleReport,
    reader: Option<Reader>,
    (own, certificate): (Option<&OwnParser>, &RowCertificate),
) -> Result<Instance, Error> {
    let problem = match &options.problem {
        Some(path) => {
            std::fs::read_to_string(path).map_err(|why| Error::io("read problem", path, why))?
        }
        None => options
            .sourced
            .as_deref()
            .and_then(sourced::statement)
            .unwrap_or_else(|| request.problem_statement.clone()),
    };
    let text = |patch: &atlas_core::Patch, name: &str| -> Result<String, Error> {
        patch.as_text().map(str::to_owned).map_err(|why| {
            Error::new(ErrorKind::Internal, "write row: not UTF-8:", name).with_source(why)
        })
    };
    let plan = &environment.plan;
    let parser = reader
        .as_ref()
        .map_or(plan.log_parser_name.as_str(), |reader| reader.parser);
    let lists = |ids: &[String]| -> Result<Value, Error> {
        serde_json::to_value(TestList::encoded(ids)).map_err(internal)
    };
    let mut config = json!({
        "docker_specs": plan.docker_specs,
        "pre_install": plan.pre_install,
        "build": plan.paper_build(),
        "test_cmd": plan.test_cmd,
        "log_parser_name": plan.log_parser_name,
    });
    if !plan.tools.is_empty() {
        config["tools"] = json!(plan.tools);
    }
    if !plan.services.is_empty() {
        config["services"] = serde_json::to_value(&plan.services).map_err(internal)?;
    }
    let mut ours = json!({
        "schema_version": 1,
        "kind": report.kind,
        "before_failure_extent": report.before_failure_extent,
        "fail_to_pass_rule": report.fail_to_pass_rule,
        "pass_to_fail": report.pass_to_fail,
        "unstable": report.unstable,
        "gold_only": report.gold_only,
        "swebench_agrees": reader.is_some_and(|reader| reader.agrees),
        "engine": environment.lock.engine,
        "image_id": environment.lock.image_id,
        "certificate": certificate,
    });
    if !report.doubts.is_empty() {
        ours["doubts"] = json!(report.doubts);
    }
    if let Some(scope) = &plan.test_scope {
        ours["test_scope"] = serde_json::to_value(scope).map_err(internal)?;
    }
    if let Some(confirmation) = &report.confirmation {
        let mut confirmation = serde_json::to_value(confirmation).map_err(internal)?;
        // A row says nothing that depends on the machine.
        if let Some(fields) = confirmation.as_object_mut() {
            fields.remove("seconds");
        }
        ours["confirmation"] = confirmation;
    }
    match own.map(|own| (own, own.file())) {
        Some((_, Some(file))) => ours["parser"] = serde_json::to_value(file).map_err(internal)?,
        Some((own, None)) => {
            let by = own.read_by(ParserOrigin::Caller);
            ours["read_by"] = serde_json::to_value(by).map_err(internal)?;
        }
        None => {}
    }
    if let Some(told) = &options.sourced {
        ours["sourced"] = sourced::about(told);
    }
    let mut row = Instance::new(&request.instance_id);
    let version = request
        .number
        .map_or_else(|| request.base.short().to_owned(), |n| n.to_string());
    for (column, value) in [
        ("repo", json!(request.repo_name)),
        ("base_commit", json!(request.base)),
        ("patch", json!(text(&split.gold_patch, "gold patch")?)),
        ("test_patch", json!(text(&split.test_patch, "test patch")?)),
        ("problem_statement", json!(problem)),
        ("hints_text", json!("")),
        ("created_at", json!(request.head_date)),
        ("version", json!(version)),
        ("FAIL_TO_PASS", lists(&report.fail_to_pass)?),
        ("PASS_TO_PASS", lists(&report.pass_to_pass)?),
        ("environment_setup_commit", json!(request.base)),
        ("image", json!(image)),
        (
            "eval_script",
            json!(eval_script(
                request.base.as_str(),
                &split.test_patch,
                &test_files(split)?,
                plan
            )),
        ),
        ("log_parser", json!(parser)),
        ("eval_type", json!("pass_and_fail")),
        ("language", json!(plan.language)),
        (
            "environment_config",
            json!(serde_json::to_string(&config).map_err(internal)?),
        ),
        ("atlas", ours),
    ] {
        row.set(column, value);
    }
    if let Some(told) = &options.sourced {
        sourced::fill(&mut row, told);
    }
    Ok(row)
}

/// Files that hold tests alone, each with whether it exists in Base. Files that hold the solution
/// too are no part of it: restoring them would take the solution away.
fn test_files(split: &SplitPullRequest) -> Result<Vec<(String, bool)>, Error> {
    let files = split.test_patch.files().map_err(|why| {
        Error::new(ErrorKind::Internal, "read the test patch", "").with_source(why)
    })?;
    let mixed: BTreeSet<&str> = split
        .decisions
        .iter()
        .filter(|d| d.side == Side::Both)
        .map(|d| d.path.as_str())
        .collect();
    let is_mixed = |path: &Option<String>| path.as_deref().is_some_and(|path| mixed.contains(path));
    let mut paths = Vec::new();
    for file in files {
        if is_mixed(&file.old_path) || is_mixed(&file.new_path) {
            continue;
        }
        let renamed = file.old_path != file.new_path;
        paths.extend(file.old_path.map(|path| (path, true)));
        paths.extend(file.new_path.filter(|_| renamed).map(|path| (path, false)));
    }
    Ok(paths)
}

fn internal(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "write row", "").with_source(why)
}

/// The row for the harness, with tests named as it names them; none without such names.
pub(super) fn for_harness(
    row: &Instance,
    lists: Option<[Vec<String>; 2]>,
) -> Result<Option<Instance>, Error> {
    let Some([defining, guarding]) = lists else {
        return Ok(None);
    };
    let mut row = row.clone();
    for (column, ids) in [("FAIL_TO_PASS", defining), ("PASS_TO_PASS", guarding)] {
        let list = serde_json::to_value(TestList::encoded(ids)).map_err(internal)?;
        row.set(column, list);
    }
    Ok(Some(row))
}

/// Puts a row into a dataset: in place of the row of the same name, else at the end; without one, the row of that name is
/// taken out. Rows of others are kept byte for byte.
pub(super) fn put(path: &Path, id: &InstanceId, row: Option<&Instance>) -> Result<(), Error> {
    rewrite(path, id, row.map(ToString::to_string).as_deref())
}

fn rewrite(path: &Path, id: &InstanceId, row: Option<&str>) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let _lock = lock(&folder.join(".atlas").join("dataset.lock"))?;
    let old = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(why) => return Err(Error::io("read dataset", path, why)),
    };
    let is_ours = |line: &str| {
        serde_json::from_str::<Value>(line).is_ok_and(|value| {
            value.get("instance_id").and_then(Value::as_str) == Some(id.as_str())
        })
    };
    let mut new = String::with_capacity(old.len());
    let mut written = false;
    for line in old.lines() {
        if is_ours(line) {
            if let Some(row) = row.filter(|_| !written) {
                new.push_str(row);
                new.push('\n');
                written = true;
            }
        } else {
            new.push_str(line);
            new.push('\n');
        }
    }
    if let Some(row) = row.filter(|_| !written) {
        new.push_str(row);
        new.push('\n');
    }
    if new == old {
        Ok(())
    } else {
        write_atomically(path, new.as_bytes())
    }
}
