//! Where a release comes from, as an SPDX 2.3 document.

use super::croissant::DataFile;
use super::release::{InstanceRecord, Release};
use crate::store::{Key, hexadecimal};
use serde_json::{Value, json};
use sha1::Digest as _;
use std::collections::{BTreeMap, BTreeSet};

const NOTHING_SAID: &str = "NOASSERTION";

/// What a repository's package is made of.
#[derive(Debug, Default)]
struct Repository {
    licences: BTreeSet<String>,
    bases: BTreeSet<String>,
}

/// What rows were made of and by, counted row by row.
#[derive(Debug, Default)]
pub(super) struct Origins {
    makers: BTreeSet<String>,
    models: BTreeSet<String>,
    repositories: BTreeMap<String, Repository>,
    /// Image -> its digest.
    images: BTreeMap<String, String>,
    /// How rows were made: setting, such as engine or isolation -> value -> rows.
    settings: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl Origins {
    pub(super) fn add(&mut self, record: &InstanceRecord) {
        self.makers.extend(record.atlas_version.clone());
        self.models.extend(record.models.iter().cloned());
        if !record.repo.is_empty() {
            let known = self.repositories.entry(record.repo.clone()).or_default();
            known.licences.insert(record.license.clone());
            known.bases.insert(record.base_commit.clone());
        }
        let own = record.image.clone().zip(record.image_digest.clone());
        let base = record
            .base_image
            .clone()
            .zip(record.base_image_digest.clone());
        self.images.extend(own.into_iter().chain(base));
        let confirm = &record.settings["confirm"];
        let said = [
            ("engine", record.engine.clone()),
            ("engine_version", record.engine_version.clone()),
            ("isolation", record.isolation.clone()),
            ("atlas_version", record.atlas_version.clone()),
            ("confirm", (!confirm.is_null()).then(|| confirm.to_string())),
            (
                "models",
                (!record.models.is_empty()).then(|| json!(record.models).to_string()),
            ),
        ];
        for (name, value) in said {
            let value = value.unwrap_or_else(|| "none".to_owned());
            let counts = self.settings.entry(name).or_default();
            *counts.entry(value).or_default() += 1;
        }
    }
}

/// `metadata/provenance.spdx.json`: the dataset, its files, the repositories and images that it was made of, the programs and models that made
/// it, and with which settings.
///
/// `expressions` has the SPDX expression of each licence that is one.
pub(super) fn document(
    release: &Release,
    origins: &Origins,
    files: &[DataFile],
    expressions: &BTreeMap<String, String>,
) -> Value {
    let mut packages = vec![json!({
        "SPDXID": "SPDXRef-Dataset",
        "name": release.name,
        "versionInfo": release.version,
        "downloadLocation": NOTHING_SAID,
        "filesAnalyzed": true,
        "packageVerificationCode": {"packageVerificationCodeValue": verification_code(files)},
        "licenseConcluded": NOTHING_SAID,
        "licenseInfoFromFiles": [NOTHING_SAID],
        "licenseDeclared": declared(release.licences.keys().map(String::as_str), expressions),
        "copyrightText": NOTHING_SAID,
        "comment": "a dataset of software-engineering tasks; the licences are those of the repositories that its rows were made of",
    })];
    let mut relations = vec![related("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Dataset")];
    let mut add = |package: Value, kind: &str, is_of: bool| {
        let id = package["SPDXID"].as_str().unwrap_or_default().to_owned();
        relations.push(if is_of {
            related(&id, kind, "SPDXRef-Dataset")
        } else {
            related("SPDXRef-Dataset", kind, &id)
        });
        packages.push(package);
    };
    let mut makers: BTreeSet<&str> = origins.makers.iter().map(String::as_str).collect();
    makers.insert(&release.atlas_version);
    for version in makers {
        let mut package = plain(&format!("Atlas-{version}"), "atlas", Some(version));
        package["primaryPackagePurpose"] = json!("APPLICATION");
        add(package, "BUILD_TOOL_OF", true);
    }
    for model in &origins.models {
        let mut package = plain(&format!("Model-{model}"), model, None);
        package["comment"] = json!(
            "a language model that had a part in rows; which rows is in metadata/instances.jsonl"
        );
        add(package, "BUILD_TOOL_OF", true);
    }
    for (name, repository) in &origins.repositories {
        let mut package = plain(&format!("Repository-{name}"), name, None);
        package["licenseDeclared"] =
            declared(repository.licences.iter().map(String::as_str), expressions).into();
        package["primaryPackagePurpose"] = json!("SOURCE");
        let bases: Vec<&str> = repository.bases.iter().map(String::as_str).collect();
        package["sourceInfo"] = json!(format!("base commits: {}", bases.join(", ")));
        add(package, "GENERATED_FROM", false);
    }
    for (image, digest) in &origins.images {
        let mut package = plain(&format!("Image-{image}"), image, Some(digest));
        package["primaryPackagePurpose"] = json!("CONTAINER");
        package["checksums"] = json!([{
            "algorithm": "SHA256",
            "checksumValue": digest.trim_start_matches("sha256:"),
        }]);
        add(package, "HAS_PREREQUISITE", false);
    }
    let listed: Vec<Value> = files
        .iter()
        .map(|file| {
            let id = id_of("File", &file.path);
            relations.push(related("SPDXRef-Dataset", "CONTAINS", &id));
            json!({
                "SPDXID": id,
                "fileName": format!("./{}", file.path),
                "checksums": [
                    {"algorithm": "SHA1", "checksumValue": file.sha1},
                    {"algorithm": "SHA256", "checksumValue": file.sha256},
                ],
                "licenseConcluded": NOTHING_SAID,
                "licenseInfoInFiles": [NOTHING_SAID],
                "copyrightText": NOTHING_SAID,
            })
        })
        .collect();
    let created = format!("{}T00:00:00Z", release.date);
    let content: Vec<&[u8]> = files.iter().map(|file| file.sha256.as_bytes()).collect();
    let mut key = Key::new("release")
        .part(release.name.as_bytes())
        .part(release.version.as_bytes());
    for part in content {
        key = key.part(part);
    }
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("{}-{}", release.name, release.version),
        "documentNamespace": format!("https://spdx.org/spdxdocs/{}-{}", word(&release.name), key.finish()),
        "creationInfo": {
            "created": created,
            "creators": [format!("Tool: atlas-{}", release.atlas_version)],
        },
        "annotations": [{
            "annotationDate": created,
            "annotationType": "OTHER",
            "annotator": format!("Tool: atlas-{}", release.atlas_version),
            "comment": json!(origins.settings).to_string(),
        }],
        "packages": packages,
        "files": listed,
        "relationships": relations,
    })
}

/// The code that SPDX 2.3 (section 7.9) asks for: a hash over the sorted hashes of the files.
fn verification_code(files: &[DataFile]) -> String {
    let mut hashes: Vec<&str> = files.iter().map(|file| file.sha1.as_str()).collect();
    hashes.sort_unstable();
    hexadecimal(&sha1::Sha1::digest(hashes.concat()))
}

fn plain(id: &str, name: &str, version: Option<&str>) -> Value {
    let mut package = json!({
        "SPDXID": id_of("Package", id),
        "name": name,
        "downloadLocation": NOTHING_SAID,
        "filesAnalyzed": false,
        "licenseConcluded": NOTHING_SAID,
        "licenseDeclared": NOTHING_SAID,
        "copyrightText": NOTHING_SAID,
    });
    if let Some(version) = version {
        package["versionInfo"] = json!(version);
    }
    package
}

fn related(from: &str, kind: &str, to: &str) -> Value {
    json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
}

/// All of these licences together; nothing is said where one is unknown or no expression.
fn declared<'a>(
    licences: impl IntoIterator<Item = &'a str>,
    expressions: &BTreeMap<String, String>,
) -> String {
    let all: Option<BTreeSet<&String>> = licences
        .into_iter()
        .map(|licence| expressions.get(licence))
        .collect();
    let all: Vec<String> = match all {
        Some(all) if all.len() == 1 => all.into_iter().cloned().collect(),
        Some(all) => all.into_iter().map(|one| format!("({one})")).collect(),
        None => Vec::new(),
    };
    if all.is_empty() {
        NOTHING_SAID.to_owned()
    } else {
        all.join(" AND ")
    }
}

/// An identifier of the document. Names that are the same but for signs that it may not have are told apart by a hash.
fn id_of(kind: &str, name: &str) -> String {
    let hash = Key::new(name).finish();
    format!("SPDXRef-{kind}-{}-{}", word(name), &hash[..8])
}

fn word(text: &str) -> String {
    let kept = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    text.chars().map(kept).collect()
}
