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
use atlas_core::{Error, ErrorKind, RunContext, Severity};
use atlas_formats::{Dataset, LintCode, LintOptions, ReadOptions, Row, Schema, lint, read_dataset};
use card::Figures;
use changes::Old;
use croissant::{About, DataFile};
use options::is_date;
use place::Place;
use release::{InstanceRecord, METADATA, Release};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use table::Table;

/// A licence that nobody says, in the column `license`.
const NAME_OF_UNKNOWN: &str = "unknown";

/// The folder of what stands beside rows.
const INSTANCES: &str = "instances";

/// Publishes a dataset: its splits as JSON lines and Parquet, a dataset card, Croissant metadata, an SPDX document, checksums, and
/// beside each row what builds its environment, with everything that proves it where that is asked for.
///
/// The folder appears whole, in place of an older release, or not at all. The same dataset and options give the same bytes. Rows are
/// held in memory; logs and environments are not.
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
    cx.progress.phase("read the dataset");
    let mut rows = usable_rows(&dataset)?;
    let mut decided = decided::Decided::default();
    if let Some(decisions) = &options.decisions {
        (rows, decided) = decided::accepted(rows, decisions)?;
    }
    let old = options.against.as_deref().map(Old::read).transpose()?;
    let splits = splits::splits(&rows, &options.splits)?;
    let mut work = Work {
        options,
        folder: place.staging(),
        paths: MachinePaths::of(
            dataset.parent().unwrap_or(Path::new(".")),
            cache_folder().ok().as_deref(),
        ),
        dataset,
        records: Vec::new(),
        figures: Figures::default(),
        expressions: BTreeMap::new(),
        report: PublishReport {
            schema_version: 1,
            out: options.out.clone(),
            name: options.name.clone(),
            version: options.version.clone(),
            rows: rows.len(),
            splits: BTreeMap::new(),
            left_out: decided.left_out,
            licences: BTreeMap::new(),
            with_environment: 0,
            files: 0,
            bytes: 0,
            changes: None,
            replaced: Vec::new(),
            warnings: decided.warnings,
        },
    };
    let mut kept: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut published = Vec::with_capacity(kept.len());
    cx.progress.phase("copy what stands beside the rows");
    for (split, places) in &splits {
        for at in places {
            cx.check("publish")?;
            let Some(row) = kept[*at].take() else {
                continue;
            };
            cx.progress.detail(row.id().as_str());
            published.push((split.clone(), work.instance(split, row)?));
        }
    }
    cx.progress.phase("write the release");
    work.write(&published, old.as_ref())?;
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

/// The rows, all of which can be graded.
fn usable_rows(path: &Path) -> Result<Vec<Row>, Error> {
    let set = read_dataset(path, &ReadOptions::default())?;
    let wrong = |what: String| Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
    let more = |others: usize| match others {
        0 => String::new(),
        others => format!(" (and {others} more: `atlas lint` lists them)"),
    };
    if let Some(first) = set.faults.first() {
        return wrong(format!("{first}{}", more(set.faults.len() - 1)));
    }
    if set.rows.is_empty() {
        return wrong(format!("`{}`: there is no row in it", path.display()));
    }
    if let Some(row) = set
        .rows
        .iter()
        .find(|row| Schema::detect(row).is_some_and(Schema::is_folder))
    {
        return wrong(format!(
            "`{}` is a folder of files; write rows first: atlas convert {} rows.jsonl --to swebench5",
            row.id(),
            path.display()
        ));
    }
    // An instance of the local engine has no image, and a plan in its place.
    let findings = lint(
        &set,
        &LintOptions::default().without(LintCode::MissingImage),
    );
    let fatal: Vec<_> = findings
        .iter()
        .filter(|found| found.severity == Severity::Fatal)
        .collect();
    if let Some(first) = fatal.first() {
        return wrong(format!(
            "`{}`: {first}{}",
            path.display(),
            more(fatal.len() - 1)
        ));
    }
    Ok(set.rows)
}

/// A release while it is made.
struct Work<'a> {
    options: &'a PublishOptions,
    folder: &'a Path,
    dataset: PathBuf,
    paths: MachinePaths,
    records: Vec<InstanceRecord>,
    figures: Figures,
    /// Licence as rows say it -> its SPDX expression.
    expressions: BTreeMap<String, String>,
    report: PublishReport,
}

impl Work<'_> {
    /// Puts what belongs beside a row into the release; the row as it is published.
    fn instance(&mut self, split: &str, mut row: Row) -> Result<Row, Error> {
        let id = row.id().to_string();
        if let Some(path) = self.paths.found_in(row.json().as_bytes()) {
            let column = row
                .columns()
                .iter()
                .find(|(_, value)| self.paths.found_in(value.to_string().as_bytes()).is_some());
            let column = column.map_or("", |(name, _)| name.as_str());
            let at = row.place().map(ToString::to_string).unwrap_or_default();
            let what = format!(
                "{at}: column `{column}` holds `{path}`, a folder of this machine; make the instance again, under bubblewrap or in \
                 a container"
            );
            return Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
        }
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
        self.records.push(record);
        Ok(row)
    }

    /// Everything but what stands beside rows.
    fn write(&mut self, rows: &[(String, Row)], old: Option<&Old>) -> Result<(), Error> {
        let table = Table::of(rows.iter().map(|(_, row)| row));
        let mut by_split: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for (split, row) in rows {
            by_split.entry(split).or_default().push(row);
        }
        let mut files = Vec::new();
        for (split, rows) in &by_split {
            let named = SplitFiles {
                rows: rows.len(),
                jsonl: format!("{split}.jsonl"),
                parquet: format!("data/{split}-00000-of-00001.parquet"),
            };
            self.rows(split, rows, &table, &named)?;
            for path in [&named.jsonl, &named.parquet] {
                files.push(self.data_file(split, path)?);
            }
            self.report.splits.insert((*split).to_owned(), named);
        }
        let mut records = Vec::new();
        for record in &self.records {
            let line = serde_json::to_vec(record);
            records.extend(line.map_err(|why| internal("write", "instances.jsonl", why))?);
            records.push(b'\n');
        }
        let instances = format!("{METADATA}/instances.jsonl");
        write_atomically(&self.folder.join(&instances), &records)?;
        if let Some(old) = old {
            let changes = ReleaseChanges::since(old, rows, &self.options.version);
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
        let release = self.release(rows, old);
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
            &croissant::croissant(&about, &table, &files),
        )?;
        files.push(self.data_file("", &instances)?);
        let document = spdx::document(&release, &self.records, &files, &self.expressions);
        write_json(
            &self.folder.join(METADATA).join("provenance.spdx.json"),
            &document,
        )?;
        self.warn();
        self.sums()
    }

    /// The rows of a split, both ways.
    fn rows(
        &self,
        split: &str,
        rows: &[&Row],
        table: &Table,
        named: &SplitFiles,
    ) -> Result<(), Error> {
        let path = self.folder.join(&named.jsonl);
        let fail = |why| Error::io("write", &path, why);
        let file = std::fs::File::create(&path).map_err(fail)?;
        let mut file = std::io::BufWriter::new(file);
        let mut cells = Vec::with_capacity(rows.len());
        for row in rows {
            writeln!(file, "{}", row.line()).map_err(fail)?;
            let cell = Row::new(table.row(row));
            cells.push(cell.map_err(|why| internal("write split", split, why))?);
        }
        file.flush().map_err(fail)?;
        let parquet = self.folder.join(&named.parquet);
        if let Some(folder) = parquet.parent() {
            std::fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
        }
        Dataset::new(cells).write(&parquet)
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

    fn release(&self, rows: &[(String, Row)], old: Option<&Old>) -> Release {
        let newest = || {
            let days = rows
                .iter()
                .filter_map(|(_, row)| row.text("created_at")?.get(..10));
            let newest = days.filter(|day| is_date(day)).max();
            newest.unwrap_or("1970-01-01").to_owned()
        };
        Release {
            schema_version: 1,
            name: self.options.name.clone(),
            version: self.options.version.clone(),
            date: self.options.date.clone().unwrap_or_else(newest),
            atlas_version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: rows.len(),
            splits: self.report.splits.clone(),
            licences: self.report.licences.clone(),
            evidence: self.options.evidence,
            against: old.map(|old| {
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
