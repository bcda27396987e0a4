//! What field a repository is of (paper 001, section 4.1 and figure 2a).
//!
//! The paper names `DevTools`, Infra/DevOps, Scientific Computing and Data Engineering, with AI/ML, Blockchain and Embedded in the long tail, and
//! "Applications" in appendix H, and no rule; web and command lines are ours. A rule goes by what the project says of itself, its topics, and
//! else by what the changed files import. What is imported everywhere (an HTTP client, an argument parser) tells nothing.

use super::ClassSubject;
use atlas_core::{Evidence, FilePatch};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The field of a repository.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// Compilers, linters, test frameworks, editors.
    DevTools,
    /// Deployment, orchestration, monitoring, networks.
    InfraDevops,
    /// Numbers, simulation, statistics, biology, physics.
    ScientificComputing,
    /// Databases, pipelines, formats of data.
    DataEngineering,
    /// Learning machines.
    AiMl,
    /// Ledgers and contracts.
    Blockchain,
    /// Devices and their firmware.
    Embedded,
    /// Servers, pages and their frameworks.
    Web,
    /// Programs for a terminal.
    Cli,
    /// Programs for people: games, media, offices.
    Applications,
    /// No rule decides.
    #[default]
    Unknown,
}

impl Domain {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DevTools => "dev-tools",
            Self::InfraDevops => "infra-devops",
            Self::ScientificComputing => "scientific-computing",
            Self::DataEngineering => "data-engineering",
            Self::AiMl => "ai-ml",
            Self::Blockchain => "blockchain",
            Self::Embedded => "embedded",
            Self::Web => "web",
            Self::Cli => "cli",
            Self::Applications => "applications",
            Self::Unknown => "unknown",
        }
    }
}

/// Topics of repositories, as hosts spell them.
const TOPICS: &[(Domain, &[&str])] = &[
    (
        Domain::DevTools,
        &[
            "linter",
            "formatter",
            "compiler",
            "parser",
            "testing",
            "test-framework",
            "static-analysis",
            "developer-tools",
            "devtools",
            "build-tool",
            "package-manager",
            "bundler",
            "language-server",
            "debugger",
            "code-generation",
            "lsp",
        ],
    ),
    (
        Domain::InfraDevops,
        &[
            "devops",
            "kubernetes",
            "docker",
            "terraform",
            "ansible",
            "infrastructure",
            "monitoring",
            "observability",
            "ci-cd",
            "cloud",
            "prometheus",
            "service-mesh",
            "load-balancer",
            "containers",
        ],
    ),
    (
        Domain::ScientificComputing,
        &[
            "scientific-computing",
            "numerical-methods",
            "physics",
            "bioinformatics",
            "astronomy",
            "chemistry",
            "statistics",
            "simulation",
            "linear-algebra",
            "mathematics",
            "geospatial",
        ],
    ),
    (
        Domain::DataEngineering,
        &[
            "database",
            "sql",
            "etl",
            "data-engineering",
            "data-pipeline",
            "dataframe",
            "big-data",
            "orm",
            "parquet",
            "streaming",
            "postgresql",
            "data-analysis",
        ],
    ),
    (
        Domain::AiMl,
        &[
            "machine-learning",
            "deep-learning",
            "llm",
            "nlp",
            "neural-network",
            "pytorch",
            "tensorflow",
            "artificial-intelligence",
            "computer-vision",
            "reinforcement-learning",
        ],
    ),
    (
        Domain::Blockchain,
        &[
            "blockchain",
            "ethereum",
            "bitcoin",
            "solidity",
            "cryptocurrency",
            "web3",
            "smart-contracts",
        ],
    ),
    (
        Domain::Embedded,
        &[
            "embedded",
            "iot",
            "arduino",
            "firmware",
            "microcontroller",
            "rtos",
            "home-automation",
            "no-std",
        ],
    ),
    (
        Domain::Web,
        &[
            "web",
            "web-framework",
            "http-server",
            "frontend",
            "backend",
            "react",
            "vue",
            "django",
            "flask",
            "rest-api",
            "graphql",
            "css",
            "cms",
            "middleware",
        ],
    ),
    (
        Domain::Cli,
        &[
            "cli",
            "command-line",
            "command-line-tool",
            "terminal",
            "tui",
            "shell",
        ],
    ),
    (
        Domain::Applications,
        &[
            "game",
            "desktop-app",
            "mobile",
            "self-hosted",
            "media-player",
            "editor",
            "productivity",
        ],
    ),
];

/// Packages that only projects of one field import.
const IMPORTS: &[(Domain, &[&str])] = &[
    (
        Domain::DevTools,
        &[
            "libcst",
            "syn",
            "swc",
            "@babel/core",
            "@typescript-eslint/utils",
            "go/ast",
            "go/parser",
            "proc_macro2",
            "eslint",
        ],
    ),
    (
        Domain::InfraDevops,
        &[
            "k8s.io/client-go",
            "kubernetes",
            "boto3",
            "docker",
            "github.com/prometheus/client_golang",
            "pulumi",
        ],
    ),
    (
        Domain::ScientificComputing,
        &[
            "scipy",
            "sympy",
            "astropy",
            "nalgebra",
            "ndarray",
            "Bio",
            "xarray",
            "gonum.org/v1/gonum",
        ],
    ),
    (
        Domain::DataEngineering,
        &[
            "pandas",
            "polars",
            "pyarrow",
            "sqlalchemy",
            "database/sql",
            "sqlx",
            "diesel",
            "pyspark",
            "arrow",
            "duckdb",
        ],
    ),
    (
        Domain::AiMl,
        &[
            "torch",
            "tensorflow",
            "keras",
            "transformers",
            "sklearn",
            "jax",
            "candle_core",
            "openai",
            "langchain",
        ],
    ),
    (
        Domain::Blockchain,
        &[
            "web3",
            "ethers",
            "github.com/ethereum/go-ethereum",
            "solana_sdk",
            "bitcoin",
        ],
    ),
    (
        Domain::Embedded,
        &[
            "embedded_hal",
            "cortex_m",
            "machine",
            "RPi.GPIO",
            "esp_idf_sys",
            "Arduino.h",
            "homeassistant",
        ],
    ),
    (
        Domain::Web,
        &[
            "django",
            "flask",
            "fastapi",
            "starlette",
            "react",
            "vue",
            "express",
            "next",
            "axum",
            "actix_web",
            "github.com/gin-gonic/gin",
            "rails",
            "sinatra",
            "svelte",
            "org.springframework",
        ],
    ),
    (
        Domain::Cli,
        &[
            "clap",
            "github.com/spf13/cobra",
            "click",
            "typer",
            "ratatui",
            "prompt_toolkit",
        ],
    ),
    (
        Domain::Applications,
        &["pygame", "bevy", "electron", "PyQt5", "gtk"],
    ),
];

/// A line that imports something, in the languages whose imports name packages.
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)^\s*(?:
          from\s+([\w.]+)\s+import\b | import\s+([\w.]+)(?:\s+as\s+\w+|\s*;)?\s*$ | (?:pub\s+)?use\s+(\w+)(?:::|;)
        | import\s.*?\bfrom\s+['"]([^'"]+)['"] | .*?\brequire\(?\s*['"]([^'"]+)['"] | (?:[\w.]+\s+)?"([\w./-]+\.[\w./-]+|database/sql|go/\w+)"\s*$
        | \#\s*include\s*[<"]([\w./-]+)[>"]
        )"#,
    )
    .expect("the pattern is tested")
});

/// The domain that most signs speak for, with its first sign; none where two have as many, or nothing is a sign.
pub fn domain_by_rule(subject: &ClassSubject) -> Option<(Domain, Evidence)> {
    let topics = subject.topics.iter().filter_map(|topic| {
        let spelled = topic.trim().to_lowercase().replace([' ', '_'], "-");
        let domain = find(TOPICS, |known| *known == spelled)?;
        Some((domain, Evidence::of("topics", topic.as_str())))
    });
    let by_topics = most(topics);
    if by_topics.is_some() {
        return by_topics;
    }
    let mut imports = Vec::new();
    for patch in [&subject.gold_patch, &subject.test_patch] {
        for file in patch.files().unwrap_or_default() {
            imports.extend(imports_of(&file));
        }
    }
    most(imports.into_iter())
}

fn find(table: &[(Domain, &[&str])], is: impl Fn(&&str) -> bool) -> Option<Domain> {
    let found = table.iter().find(|(_, names)| names.iter().any(&is));
    found.map(|(domain, _)| *domain)
}

/// Each domain once a file, by the first of its imports.
fn imports_of(file: &FilePatch) -> Vec<(Domain, Evidence)> {
    let mut found: BTreeMap<Domain, Evidence> = BTreeMap::new();
    for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
        let text = String::from_utf8_lossy(&line.bytes);
        let text = text.trim_end();
        let Some(captured) = IMPORT.captures(text) else {
            continue;
        };
        let Some(name) = captured.iter().skip(1).flatten().next() else {
            continue;
        };
        let name = name.as_str();
        let is = |known: &&str| {
            let rest = name.strip_prefix(*known);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
        };
        if let Some(domain) = find(IMPORTS, is) {
            let proof = || Evidence::of(file.path(), text.trim());
            found.entry(domain).or_insert_with(proof);
        }
    }
    found.into_iter().collect()
}

fn most(signs: impl Iterator<Item = (Domain, Evidence)>) -> Option<(Domain, Evidence)> {
    let mut counts: BTreeMap<Domain, (usize, Evidence)> = BTreeMap::new();
    for (domain, proof) in signs {
        counts.entry(domain).or_insert((0, proof)).0 += 1;
    }
    let highest = counts.values().map(|(count, _)| *count).max()?;
    let mut best = counts
        .into_iter()
        .filter(|(_, (count, _))| *count == highest);
    match (best.next(), best.next()) {
        (Some((domain, (_, proof))), None) => Some((domain, proof)),
        _ => None,
    }
}
