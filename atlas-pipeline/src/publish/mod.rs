//! `atlas publish`: a dataset as a folder that others can load, check and validate again.

mod artefacts;
mod card;
mod changes;
mod croissant;
mod decided;
mod licence;
mod options;
mod place;
mod release;
mod rows;
mod spdx;
mod splits;
mod table;

pub use changes::ReleaseChanges;
pub use licence::LicenceSource;
pub use options::{PublishOptions, PublishReport};
pub(crate) use place::hashes;
pub use release::SplitFiles;
pub use splits::{InvalidSplitRule, SplitRule};

use crate::clones::artefacts_of;
use crate::engine::cache_folder;
use crate::store::{read_json, write_json};
use crate::write_atomically;
use artefacts::MachinePaths;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_formats::{ParquetColumns, ReadOptions, Row, each_row};
use card::Figures;
use changes::Old;
use croissant::{About, DataFile};
use decided::Decisions;
use options::is_date;
use place::{LineFile, Place};
use release::{InstanceRecord, METADATA, Release};
use rows::Rows;
use serde_json::{Value, json};
use spdx::Origins;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use table::Table;

/// A licence that nobody says, in the column `license`.
const NAME_OF_UNKNOWN: &str = "unknown";

/// The folder of what stands beside rows.
const INSTANCES: &str = "instances";

/// Where rows come from, below [`METADATA`].
const RECORDS: &str = "instances.jsonl";

/// Publishes a dataset: its splits as JSON lines and Parquet, a dataset card, Croissant metadata, an SPDX document, checksums, and
/// beside each row what builds its environment, with everything that proves it where that is asked for.
///
/// The folder appears whole, in place of an older release, or not at all. The same dataset and options give the same bytes. Memory
/// holds one row, a thousand while a table is written, and of all what splits are made by; a dataset that is no file of lines is
/// read whole first.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a dataset with a row that cannot be read or cannot be graded, with file and line, for options that
/// do not fit it, for a folder of this machine in a row, and for a folder that holds something else.
///
/// # Cancellation
/// Raising `cx.cancel` returns [`ErrorKind::Cancelled`]; the folder is as it was.
pub fn publish(cx: &RunContext, options: &PublishOptions) -> Result<PublishReport, Error> {
    options.check()?;
    let place = Place::take(&options.out)?;
    let dataset = dataset_file(&options.dataset);
    let paths = MachinePaths::of(
        dataset.parent().unwrap_or(Path::new(".")),
        cache_folder().ok().as_deref(),
    );
    cx.progress.phase("read the dataset");
    let mut decisions = Decisions::read(options.decisions.as_deref())?;
    let rows = Rows::read(cx, &dataset, &options.splits, &paths, &mut decisions)?;
    let old = options.against.as_deref().map(Old::read).transpose()?;
    let splits = splits::splits(&rows.known, &rows.columns, &options.splits)?;
    let mut work = Work {
        cx,
        options,
        folder: place.staging(),
        paths,
        dataset,
        table: Table::default(),
        origins: Origins::default(),
        figures: Figures::default(),
        expressions: BTreeMap::new(),
        newest: None,
        changes: old
            .as_ref()
            .map(|old| ReleaseChanges::since(old, &options.version)),
        old,
        report: PublishReport {
            schema_version: 1,
            out: options.out.clone(),
            name: options.name.clone(),
            version: options.version.clone(),
            rows: rows.known.len(),
            splits: BTreeMap::new(),
            left_out: std::mem::take(&mut decisions.left_out),
            licences: BTreeMap::new(),
            with_environment: 0,
            files: 0,
            bytes: 0,
            changes: None,
            replaced: Vec::new(),
            warnings: decisions.warnings(),
        },
    };
    cx.progress.phase("copy what stands beside the rows");
    let records = work.folder.join(METADATA).join(RECORDS);
    let mut records = LineFile::create(records)?;
    for (split, places) in &splits {
        work.split(&rows, (split, places), &mut records)?;
    }
    records.finish()?;
    drop(rows);
    cx.progress.phase("write the release");
    work.write()?;
    cx.check("publish")?;
    place.finish()?;
    Ok(work.report)
}

/// The file of a dataset: in a folder that `make` wrote stand other files too.
fn dataset_file(given: &Path) -> PathBuf {
    let inside = given.join("dataset.jsonl");
    if inside.is_file() {
        inside
    } else {
        given.to_owned()
    }
}

/// A release while it is made.
struct Work<'a> {
    cx: &'a RunContext,
    options: &'a PublishOptions,
    folder: &'a Path,
    dataset: PathBuf,
    paths: MachinePaths,
    table: Table,
    origins: Origins,
    /// The day of the newest row.
    newest: Option<String>,
    old: Option<Old>,
    changes: Option<ReleaseChanges>,
    figures: Figures,
    /// Licence as rows say it -> its SPDX expression.
    expressions: BTreeMap<String, String>,
    report: PublishReport,
}

impl Work<'_> {
    /// Writes the rows of a split as JSON lines, and what belongs beside them.
    fn split(
        &mut self,
        rows: &Rows,
        (split, places): (&str, &[usize]),
        records: &mut LineFile,
    ) -> Result<(), Error> {
        let named = SplitFiles {
            rows: places.len(),
            jsonl: format!("{split}.jsonl"),
            parquet: format!("data/{split}-00000-of-00001.parquet"),
        };
        let mut lines = LineFile::create(self.folder.join(&named.jsonl))?;
        for at in places {
            self.cx.check("publish")?;
            let row = rows.get(*at)?;
            self.cx.progress.detail(row.id().as_str());
            let (row, record) = self.instance(split, row)?;
            lines.add(&row.line())?;
            let record = serde_json::to_string(&record);
            records.add(&record.map_err(|why| internal("write", RECORDS, why))?)?;
        }
        lines.finish()?;
        self.report.splits.insert(split.to_owned(), named);
        Ok(())
    }

    /// Puts what belongs beside a row into the release; the row as it is published, and where it comes from.
    fn instance(&mut self, split: &str, mut row: Row) -> Result<(Row, InstanceRecord), Error> {
        let id = row.id().to_string();
        let licence = licence::licence_of(&row, self.options.licence.as_deref());
        if row.text("license") != Some(&licence.said) {
            row.set("license", licence.said.clone()).map_err(|why| {
                Error::new(ErrorKind::Internal, "write row", id.clone()).with_source(why)
            })?;
        }
        *self
            .report
            .licences
            .entry(licence.said.clone())
            .or_default() += 1;
        if let Some(expression) = licence.expression {
            self.expressions.insert(licence.said.clone(), expression);
        }
        let mut record = record(split, &row, (licence.said, licence.source));
        let artefacts = artefacts_of(&self.dataset, &id);
        artefacts::note_makers(&artefacts, &mut record);
        if self.options.environments || self.options.evidence {
            let state = self
                .dataset
                .with_file_name(".atlas")
                .join(&id)
                .join("source.json");
            let clone: Option<PathBuf> = read_json(&state);
            let taken = artefacts::take(
                &artefacts,
                &self.folder.join(INSTANCES).join(&id),
                (&self.paths, clone.as_deref()),
                self.options.evidence,
            )?;
            record.files = taken.files;
            record.environment = taken.environment;
            self.report.with_environment += usize::from(taken.environment);
            let name = |file: &String| format!("{INSTANCES}/{id}/{file}");
            self.report.replaced.extend(taken.replaced.iter().map(name));
        }
        self.figures.add(&row, &record);
        self.origins.add(&record);
        self.table.add(&row);
        let day = row.text("created_at").and_then(|time| time.get(..10));
        let day = day.filter(|day| is_date(day)).map(str::to_owned);
        self.newest = self.newest.take().max(day);
        if let (Some(changes), Some(old)) = (&mut self.changes, &mut self.old) {
            changes.add(old, split, &row)?;
        }
        Ok((row, record))
    }

    /// Everything but rows as lines and what stands beside them.
    fn write(&mut self) -> Result<(), Error> {
        let mut files = Vec::new();
        for (split, named) in &self.report.splits {
            self.tabulate(split, named)?;
            for path in [&named.jsonl, &named.parquet] {
                files.push(self.data_file(split, path)?);
            }
        }
        if let (Some(mut changes), Some(old)) = (self.changes.take(), &self.old) {
            changes.finish(old);
            if old.version.as_ref() == Some(&self.options.version) && !changes.is_empty() {
                let what = format!(
                    "`{}` is the older release's version too, and rows changed; give another --version",
                    self.options.version
                );
                return Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
            }
            changes.write(self.folder)?;
            self.report.changes = Some(changes);
        }
        let release = self.release();
        write_json(&self.folder.join(METADATA).join("release.json"), &release)?;
        let card = card::card(&release, &self.figures);
        write_atomically(&self.folder.join("README.md"), card.as_bytes())?;
        let about = About {
            name: &release.name,
            version: &release.version,
            date: &release.date,
            description: &card::description(&release, &self.figures),
            licences: release.licences.keys().cloned().collect(),
            languages: self.figures.languages.keys().cloned().collect(),
        };
        write_json(
            &self.folder.join("croissant.json"),
            &croissant::croissant(&about, &self.table, &files),
        )?;
        files.push(self.data_file("", &format!("{METADATA}/{RECORDS}"))?);
        let document = spdx::document(&release, &self.origins, &files, &self.expressions);
        write_json(
            &self.folder.join(METADATA).join("provenance.spdx.json"),
            &document,
        )?;
        self.warn();
        self.sums()
    }

    /// The rows of a split as a table. Their lines are read twice: once for the columns' types, once for the cells.
    fn tabulate(&self, split: &str, named: &SplitFiles) -> Result<(), Error> {
        let lines = self.folder.join(&named.jsonl);
        let each = |take: &mut dyn FnMut(&Row) -> Result<(), Error>| {
            each_row(&lines, &ReadOptions::default(), |row| {
                self.cx.check("publish")?;
                let row = row.map_err(|fault| {
                    Error::new(ErrorKind::Internal, "read again", split.to_owned())
                        .with_source(fault.to_string())
                })?;
                let cells = Row::new(self.table.row(&row));
                take(&cells.map_err(|why| internal("write split", split, why))?)
            })
        };
        let parquet = self.folder.join(&named.parquet);
        if let Some(folder) = parquet.parent() {
            std::fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
        }
        let mut columns = ParquetColumns::default();
        each(&mut |row| columns.add(row))?;
        let mut rows = columns.create(&parquet)?;
        each(&mut |row| rows.add(row))?;
        rows.finish()
    }

    fn data_file(&self, split: &str, path: &str) -> Result<DataFile, Error> {
        let (bytes, sha256, sha1) = place::hashes(&self.folder.join(path))?;
        Ok(DataFile {
            path: path.to_owned(),
            split: split.to_owned(),
            bytes,
            sha256,
            sha1,
        })
    }

    fn release(&self) -> Release {
        let newest = || {
            let newest = self.newest.as_deref();
            newest.unwrap_or("1970-01-01").to_owned()
        };
        Release {
            schema_version: 1,
            name: self.options.name.clone(),
            version: self.options.version.clone(),
            date: self.options.date.clone().unwrap_or_else(newest),
            atlas_version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: self.report.rows,
            splits: self.report.splits.clone(),
            licences: self.report.licences.clone(),
            evidence: self.options.evidence,
            against: self.old.as_ref().map(|old| {
                let version = old.version.clone();
                version.unwrap_or_else(|| "another dataset".to_owned())
            }),
        }
    }

    fn warn(&mut self) {
        let unknown = self
            .report
            .licences
            .get(NAME_OF_UNKNOWN)
            .copied()
            .unwrap_or(0);
        if unknown > 0 {
            self.report.warnings.push(format!(
                "{unknown} rows say no licence; `--licence ID` says one for them"
            ));
        }
        let words: Vec<&String> = self
            .report
            .licences
            .keys()
            .filter(|name| *name != NAME_OF_UNKNOWN && !self.expressions.contains_key(*name))
            .collect();
        if !words.is_empty() {
            self.report
                .warnings
                .push(format!("no SPDX expressions: licences {words:?}"));
        }
        let without = self.report.rows - self.report.with_environment;
        if without > 0 && self.options.environments {
            self.report.warnings.push(format!(
                "{without} rows have no environment beside the dataset; validating them takes --repos, or the image that they name"
            ));
        }
    }

    /// `SHA256SUMS` over all files, in the form of `sha256sum`.
    fn sums(&mut self) -> Result<(), Error> {
        let mut text = String::new();
        for file in artefacts::files_below(self.folder)? {
            let (bytes, sha256, _) = place::hashes(&self.folder.join(&file))?;
            self.report.files += 1;
            self.report.bytes += bytes;
            text.push_str(&place::checksum_line(&sha256, &file)?);
        }
        write_atomically(&self.folder.join("SHA256SUMS"), text.as_bytes())
    }
}

fn record(
    split: &str,
    row: &Row,
    (license, license_from): (String, LicenceSource),
) -> InstanceRecord {
    let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
    let repo = match row.text("org") {
        Some(org) => format!("{org}/{}", text("repo")),
        None => text("repo"),
    };
    let names = ["image", "image_name", "docker_image"];
    let image = names
        .iter()
        .find_map(|column| row.text(column).filter(|name| !name.is_empty()));
    let atlas = row.get("atlas").unwrap_or(&Value::Null);
    let id = atlas["image_id"]
        .as_str()
        .filter(|id| id.starts_with("sha256:"));
    InstanceRecord {
        instance_id: row.id().to_string(),
        split: split.to_owned(),
        repo,
        base_commit: text("base_commit"),
        license,
        license_from,
        image: image.map(str::to_owned),
        image_digest: id.map(str::to_owned),
        base_image: None,
        base_image_digest: None,
        engine: None,
        engine_version: None,
        isolation: None,
        scenario: None,
        atlas_version: None,
        models: atlas["curation"]["models"]
            .as_array()
            .map(|models| {
                models
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default(),
        settings: json!({
            "confirm": atlas["confirmation"]["runs"],
            "test_scope": atlas["test_scope"],
            "parser": atlas["certificate"]["hash"],
            "gates": atlas["gates"],
        }),
        tools: BTreeMap::new(),
        files: 0,
        environment: false,
    }
}

fn internal(
    what: &str,
    subject: &str,
    why: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::new(ErrorKind::Internal, what.to_owned(), subject.to_owned()).with_source(why)
}
