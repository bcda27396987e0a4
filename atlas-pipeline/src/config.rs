//! `atlas.toml`.

use crate::near::with_nearest;
use crate::{ImageName, RunConfig, SourceConfig};
use atlas_core::{Error, ErrorKind, Limits};
use atlas_llm::PriceTable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The configuration file. Everything has a default; an unknown key is an error, not a surprise.
///
/// ```
/// let config = atlas_pipeline::Config::parse("[limits]\nseconds = 600\n", "atlas.toml")?;
/// assert_eq!(config.limits.seconds, 600);
/// assert!(atlas_pipeline::Config::parse("[limit]\n", "atlas.toml").is_err());
/// # Ok::<(), atlas_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A file with prices and context windows of models, in the place of the one that is shipped; a `price` in a
    /// model's own table goes before ([`PriceTable`](atlas_llm::PriceTable)). Default: the shipped one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PathBuf>,
    /// Upper bounds for each run of the tests.
    pub limits: Limits,
    /// The container engine.
    pub engine: EngineConfig,
    /// Where packages come from.
    pub registries: RegistriesConfig,
    /// The local engine.
    pub local: LocalConfig,
    /// What analysis would otherwise find out.
    pub plan: PlanConfig,
    /// How long predictions may run.
    pub grading: GradingConfig,
    /// The images that `atlas make` leaves.
    pub image: ImageConfig,
    /// What `atlas make` does before it accepts anything.
    pub make: MakeConfig,
    /// The language model that is asked where rules do not help.
    pub model: ModelConfig,
    /// What `atlas run` takes up, and how much at once.
    pub run: RunConfig,
    /// Where pull requests come from, and which become candidates.
    pub source: SourceConfig,
    /// Models by name, `[models.NAME]`, for commands that take `--model NAME`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, atlas_llm::ModelConfig>,
}

/// `[image]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ImageConfig {
    /// A further name for each image, which the row then says: `registry.example/tasks/{instance_id}:{key}`. Fields:
    /// [`ImageName`]. Default: none; the row has Atlas's own name, which no registry knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<ImageName>,
}

/// `[make]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MakeConfig {
    /// Further runs of Before and of After for each test that is to define the task: its files alone
    /// where the runner can be told so, the last of them in another order where it knows one. A test
    /// that the pull request does not reach gets three times as many. 0: none. Default: 3.
    pub confirm: u32,
    /// How much of the suite runs. Default: `auto`.
    pub scope: ScopeChoice,
    /// Seconds that Base, Before and After may take together with the whole suite; where Base takes more than a third,
    /// `auto` takes a part of it. Default: 300.
    pub scope_seconds: u64,
}

impl Default for MakeConfig {
    fn default() -> Self {
        Self {
            confirm: 3,
            scope: ScopeChoice::default(),
            scope_seconds: 300,
        }
    }
}

/// How much of a suite runs for a pull request. What was chosen, why, and what is not known then stands in the plan and
/// in the row, as `test_scope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScopeChoice {
    /// All tests.
    Full,
    /// The test files that the pull request touches and those beside them; in Go, the packages of all that it touches.
    Package,
    /// The test files that the pull request touches.
    Touched,
    /// All tests where they end in time, else `package` where that does, else `touched`.
    #[default]
    Auto,
}

impl std::str::FromStr for ScopeChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        clap::ValueEnum::from_str(text, false)
            .map_err(|_| format!("scope `{text}`: full, package, touched or auto expected"))
    }
}

/// `[model]`. Without it, no model is asked. What it may spend is one budget for each instance: for its plan, the
/// corrections of it, and a parser of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// A model: a name from `[models]`, `PROVIDER:MODEL`, an address, `scripted:FILE`. It goes before
    /// `replay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A recording of exchanges to answer from, JSON lines: the `model.jsonl` of an instance. Questions that
    /// differ from the recorded ones in numbers alone are answered.
    pub replay: Option<PathBuf>,
    /// Most calls for one instance. Default: 60.
    pub calls: u64,
    /// Most tokens for one instance, read and written. Default: 1,000,000.
    pub tokens: u64,
    /// Most money for one instance, in the currency of the model's `price`. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Most seconds from the first call for an instance on, the builds and runs between calls included.
    /// Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Most questions about the repository in one correction of a plan. Default: 20; 0 gives the model no tools.
    pub tool_rounds: u32,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            name: None,
            replay: None,
            calls: 60,
            tokens: 1_000_000,
            money: None,
            seconds: None,
            tool_rounds: 20,
        }
    }
}

/// `[engine]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// Address of the Docker API, as in `DOCKER_HOST`. Default: that variable, else the usual socket.
    pub docker_host: Option<String>,
    /// Refuse a base image other than the planned one. Default: the nearest version is taken and
    /// recorded as drift.
    pub exact: bool,
    /// Mirrors of image registries, tried in their order before the registry itself:
    /// `mirrors."docker.io" = ["mirror.example/hub"]`. Default: none.
    pub mirrors: BTreeMap<String, Vec<String>>,
    /// Base images to use in the place of planned ones, recorded as drift: `name:tag`, or a
    /// repository for all its tags, as in `base_images.python = "registry.example/python"`.
    /// Default: none.
    pub base_images: BTreeMap<String, String>,
    /// How often a registry is asked that is busy, unwell or out of reach, with growing pauses.
    /// Default 5.
    pub pull_attempts: Option<u32>,
    /// Most bytes that images of Atlas may take up on the engine before a build starts: a number,
    /// or one with `KiB`, `MiB`, `GiB` or `TiB` behind it. The ones unused for longest are removed;
    /// other people's never. Default: no limit.
    pub disk_budget: Option<Bytes>,
    /// Bytes that must be free where the engine stores images before a build starts, written
    /// likewise; images of Atlas are removed to make room. Default 2 GiB.
    pub min_free: Option<Bytes>,
}

/// `[registries]`: where packages come from while an image is built. In no plan and no row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RegistriesConfig {
    /// Mirrors: `crates`, `debian`, `go`, `maven`, `npm`, `pypi` or `rubygems`, and the address that takes its
    /// place, as the registry's own tools want it. Default: none.
    pub mirrors: BTreeMap<String, String>,
    /// The proxy of builds, `http://host:port`. It is no part of an image. Default: none.
    pub proxy: Option<String>,
    /// Hosts that are reached without it, with commas between them. Default: none.
    pub no_proxy: Option<String>,
    /// A file with certificates of authorities to trust, PEM. Default: none.
    pub certificates: Option<PathBuf>,
    /// What takes the place of packages that no registry gives; said in the environment's lock. Default:
    /// the environment variable `ATLAS_SUBSTITUTE`, else nothing.
    pub substitute: Option<SubstituteChoice>,
}

impl RegistriesConfig {
    /// Takes from the environment what the file does not say.
    ///
    /// # Errors
    /// A value that is none of those that are allowed.
    pub fn read_environment(&mut self) -> Result<(), Error> {
        let Some(value) = std::env::var_os("ATLAS_SUBSTITUTE").filter(|value| !value.is_empty())
        else {
            return Ok(());
        };
        if value != "debian" {
            let value = value.to_string_lossy();
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read configuration: ATLAS_SUBSTITUTE is",
                format!("`{value}`; debian or nothing expected"),
            ));
        }
        self.substitute.get_or_insert(SubstituteChoice::Debian);
        Ok(())
    }
}

/// What takes the place of packages that no registry gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SubstituteChoice {
    /// Debian's packages of gems, of PHP's libraries, and of C and C++ libraries that a build fetches.
    Debian,
}

impl From<RegistriesConfig> for atlas_docker::Registries {
    fn from(config: RegistriesConfig) -> Self {
        Self {
            mirrors: config.mirrors,
            proxy: config.proxy,
            no_proxy: config.no_proxy,
            certificates: config.certificates,
            substitute: config.substitute.map(Into::into),
        }
    }
}

impl From<SubstituteChoice> for atlas_docker::Substitute {
    fn from(choice: SubstituteChoice) -> Self {
        match choice {
            SubstituteChoice::Debian => Self::Debian,
        }
    }
}

/// A number of bytes, as people write it: `5368709120` or `"5 GiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}`: bytes expected, as `5368709120` or `5 GiB`");
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let number: u64 = text[..end].parse().map_err(|_| wrong())?;
        let shift = match text[end..].trim() {
            "" | "B" => 0,
            "KiB" => 10,
            "MiB" => 20,
            "GiB" => 30,
            "TiB" => 40,
            _ => return Err(wrong()),
        };
        number.checked_mul(1 << shift).map(Self).ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(from) {
            Ok(Written::Number(number)) => Ok(Self(number)),
            Ok(Written::Text(text)) => text.parse().map_err(serde::de::Error::custom),
            Err(_) => Err(serde::de::Error::custom(
                "bytes expected, as 5368709120 or \"5 GiB\"",
            )),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["integer", "string"],
            "minimum": 0,
            "pattern": "^[0-9]+ *(B|KiB|MiB|GiB|TiB)?$",
        })
    }
}

/// `[local]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Folder for prepared environments. Default: `atlas` in the user's cache folder.
    pub root: Option<PathBuf>,
    /// Run untrusted code although nothing keeps it apart from this machine. Default: no.
    pub trust: bool,
    /// `auto` (where it is installed), `never` or `require`.
    pub bubblewrap: Option<String>,
}

/// `[grading]`: how long a prediction may run in strict mode, where the gold patch runs before it.
/// `limits.seconds` is never exceeded.
///
/// ```
/// let time = atlas_pipeline::GradingConfig::default();
/// assert_eq!((time.of(3.0), time.of(30.0)), (120, 300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GradingConfig {
    /// So many times as long as the gold patch did; 0 for no such limit. Default: 10.
    pub times_gold: u32,
    /// So many seconds at any rate. Default: 120.
    pub least_seconds: u64,
}

impl Default for GradingConfig {
    fn default() -> Self {
        Self {
            times_gold: 10,
            least_seconds: 120,
        }
    }
}

impl GradingConfig {
    /// The most seconds of a prediction whose gold patch ran for so many, in steps of ten: close limits are one job.
    pub fn of(&self, gold: f64) -> u64 {
        if self.times_gold == 0 {
            return u64::MAX;
        }
        let gold = std::time::Duration::try_from_secs_f64(gold).unwrap_or_default();
        let most = gold.saturating_mul(self.times_gold).as_secs();
        (most.div_ceil(10) * 10).max(self.least_seconds)
    }
}

/// `[plan]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanConfig {
    /// The repository's language: one of the folders of `atlas-docker/src/languages`.
    pub language: Option<String>,
    /// Whether dependencies that no lockfile pins resolve as of the base commit's date. Default:
    /// yes.
    pub freeze: Option<bool>,
    /// An `environment.lock.json` of an earlier build, whose versions are taken again.
    pub lock: Option<PathBuf>,
    /// A whole environment plan as a JSON file, instead of analysis.
    pub file: Option<PathBuf>,
}

impl Config {
    /// Reads a configuration; `name` stands in errors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] with line, column and key.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let config: Self = toml::from_str(text).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "read configuration",
                format!("`{name}`"),
            )
            .with_source(with_nearest(why.to_string().trim_end()))
        })?;
        config.check_written(text, name)?;
        Ok(config)
    }

    /// The model that a text names ([`resolve`](atlas_llm::ModelConfig::resolve)), with what the table of prices
    /// knows of it.
    ///
    /// # Errors
    /// No such model; the table cannot be read.
    pub fn model(&self, text: &str) -> Result<atlas_llm::ModelConfig, Error> {
        let prices = match &self.prices {
            Some(file) => PriceTable::read(file)?,
            None => PriceTable::builtin(),
        };
        Ok(prices.fill(atlas_llm::ModelConfig::resolve(text, &self.models)?))
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file is not there, not readable, or no configuration.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| Error::io("read configuration", path, why))?;
        Self::parse(&text, &path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Config};

    #[test]
    fn a_wrong_source_is_refused_with_line_and_near_spelling() {
        for (text, words) in [
            ("[sourc]\n", &["line 1", "did you mean `source`"][..]),
            (
                "[source]\n[source.filter]\n",
                &["line 2", "did you mean `filters`"],
            ),
            (
                "[source.filters]\n\nlines_of_cod = { above = 1 }\n",
                &["line 3", "did you mean `lines_of_code`"],
            ),
            (
                "[source.filters]\nstars = { abov = 1 }\n",
                &["line 2", "did you mean `above`"],
            ),
            (
                "[source.filters]\npreset = \"paper-01\"\n",
                &["line 2", "did you mean `paper-001`"],
            ),
            ("[source.filters]\nstars = 100\n", &["line 2"]),
            (
                "[source.filters]\nissues = { above = 3, below = 4 }\n",
                &["line 2", "nothing could pass"],
            ),
            (
                "[source]\n[source.filters]\nlicences = []\n",
                &["line 2", "nothing could pass"],
            ),
            ("[[source.clones]]\nrepo = \"o/n\"\n", &["line 1", "path"]),
        ] {
            let why = Config::parse(text, "atlas.toml").unwrap_err().chain();
            for word in words {
                assert!(why.contains(word), "{word}: {why}");
            }
        }
        let own =
            Config::parse("[source.filters]\npreset = \"paper-001\"\n", "atlas.toml").unwrap();
        assert_eq!(own.source.filters.order.len(), 5);
    }

    #[test]
    fn the_engine_s_disk_and_registries_are_configured() {
        let text = r#"
            [engine]
            disk_budget = "20 GiB"
            min_free = 1024
            pull_attempts = 2
            mirrors."docker.io" = ["mirror.example/hub", "127.0.0.1:5000"]
            [engine.base_images]
            "python:3.8-slim" = "registry.example/python:3.8"
        "#;
        let engine = Config::parse(text, "atlas.toml").unwrap().engine;
        assert_eq!(engine.disk_budget, Some(Bytes(20 << 30)));
        assert_eq!(engine.min_free, Some(Bytes(1024)));
        assert_eq!(engine.pull_attempts, Some(2));
        assert_eq!(engine.mirrors["docker.io"].len(), 2);
        assert_eq!(
            engine.base_images["python:3.8-slim"],
            "registry.example/python:3.8"
        );
    }

    #[test]
    fn a_name_that_no_image_can_have_is_refused_with_its_place() {
        let good = "[image]\nname = \"quay.io/me/{instance_id}:{key}\"\n";
        let name = Config::parse(good, "atlas.toml").unwrap().image.name;
        assert_eq!(name.unwrap().to_string(), "quay.io/me/{instance_id}:{key}");
        let bad = "[image]\nname = \"quay.io/Me/{instance_id}\"\n";
        let why = Config::parse(bad, "atlas.toml").unwrap_err().chain();
        assert!(
            why.contains("image.name") && why.contains("line 2"),
            "{why}"
        );
    }

    #[test]
    fn what_is_no_number_of_bytes_is_refused_with_its_place() {
        for (text, word) in [
            ("[engine]\ndisk_budget = \"20 GB\"\n", "20 GB"),
            ("[engine]\ndisk_budget = -1\n", "GiB"),
            ("[engine]\nmin_free = \"99999999999 TiB\"\n", "min_free"),
            ("[engine]\nmirror = []\n", "mirror"),
        ] {
            let why = Config::parse(text, "atlas.toml").unwrap_err().chain();
            assert!(why.contains(word) && why.contains("line 2"), "{why}");
        }
    }
}
