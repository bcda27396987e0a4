//! What of a configuration can be seen to be wrong before anything is done, with its line.

use crate::Config;
use atlas_core::{Error, ErrorKind};
use atlas_llm::{ModelConfig, Provider};
use std::path::PathBuf;
use toml::de::{DeTable, DeValue};

/// The names that stages of `atlas run` have.
const STAGES: [&str; 7] = [
    "prepare", "make", "validate", "classify", "judge", "hints", "accept",
];

/// A key, from the outermost table on, and what is wrong with it.
type Fault = (Vec<String>, String);

fn fault(key: &[&str], why: impl Into<String>) -> Fault {
    (
        key.iter().map(|name| (*name).to_owned()).collect(),
        why.into(),
    )
}

impl Config {
    /// Refuses, with the line in the text that it was read from, what can never work: a model that does not exist or that a
    /// stage needs and has not, a stage or gate of no such name, a release that cannot be, money without prices.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] with the name of the file, line and key.
    pub(crate) fn check_written(&self, text: &str, name: &str) -> Result<(), Error> {
        let Some((key, why)) = self.fault() else {
            return Ok(());
        };
        let line = line_of(text, &key);
        let place = format!("`{name}`, line {line}");
        Err(
            Error::new(ErrorKind::InvalidInput, "read configuration", place)
                .with_source(format!("`{}`: {why}", key.join("."))),
        )
    }

    fn fault(&self) -> Option<Fault> {
        let run = &self.run;
        if let Some(name) = run
            .stages
            .keys()
            .find(|name| !STAGES.contains(&name.as_str()))
        {
            let near = crate::near::hint(name, STAGES);
            let expected = STAGES.join(", ");
            return Some(fault(
                &["run", "stages", name],
                format!("no such stage; one of {expected} expected{near}"),
            ));
        }
        if let Err(why) = run.validate.check() {
            return Some(fault(&["run", "validate", "gates"], why.chain()));
        }
        for (stage, model) in self.asked() {
            if let Err(why) = ModelConfig::resolve(model, &self.models) {
                return Some(fault(&["run", stage, "model"], why.chain()));
            }
            if run.money.is_some() && !self.has_price(model) {
                let why = format!(
                    "the model of `run.{stage}` (`{model}`) has no price, so that money cannot be counted; give it one: \
                     `price` in its table `[models.NAME]`"
                );
                return Some(fault(&["run", "money"], why));
            }
        }
        if let Some(hints) = &run.hints
            && hints.options.always_ask
            && hints.model.is_none()
        {
            let why = "nobody is there to ask; name a `model` in `[run.hints]`";
            return Some(fault(&["run", "hints", "options", "always_ask"], why));
        }
        let publish = run.publish.as_ref()?;
        let checked = publish.options(PathBuf::new()).check();
        checked
            .err()
            .map(|why| fault(&["run", "publish"], why.chain()))
    }

    /// The models that stages ask, each with the stage's name.
    fn asked(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let run = &self.run;
        let classify = Some(&run.classify).filter(|classify| classify.enabled);
        [
            ("classify", classify.and_then(|stage| stage.model.as_ref())),
            ("judge", run.judge.as_ref().map(|stage| &stage.model)),
            (
                "hints",
                run.hints.as_ref().and_then(|stage| stage.model.as_ref()),
            ),
        ]
        .into_iter()
        .filter_map(|(stage, model)| Some((stage, model?)))
    }

    /// Whether it is known what a model costs. One that cannot be looked up is another's fault to tell.
    fn has_price(&self, model: &str) -> bool {
        self.model(model).map_or(true, |model| {
            let is_free = matches!(
                model.provider,
                Provider::Replay | Provider::Scripted | Provider::Noise
            );
            is_free || model.price.is_some()
        })
    }
}

/// The line of a key, or of the nearest table above it that is written.
fn line_of(text: &str, key: &[String]) -> usize {
    let mut at = 0;
    if let Ok(whole) = DeTable::parse(text) {
        let mut table = Some(whole.get_ref());
        for name in key {
            let found = table.and_then(|table| {
                table
                    .iter()
                    .find(|(written, _)| written.get_ref().as_ref() == name.as_str())
            });
            let Some((written, value)) = found else {
                break;
            };
            at = written.span().start;
            table = match value.get_ref() {
                DeValue::Table(inner) => Some(inner),
                _ => None,
            };
        }
    }
    1 + text[..at].bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use crate::Config;

    #[test]
    fn what_can_never_work_is_refused_with_its_line() {
        for (text, words) in [
            (
                "[run]\n[run.stages.maek]\nparallel = 1\n",
                &["line 2", "run.stages.maek", "did you mean `make`"][..],
            ),
            (
                "[run.validate]\nkeep_going = true\ngates = [\"gold_pach\"]\n",
                &["line 3", "gold_pach"],
            ),
            ("[run]\n\n[run.judge]\n", &["line 3", "model"]),
            (
                "[run.judge]\nreject_low = false\nmodel = \"judje\"\n[models.judge]\nprovider = \"noise\"\n",
                &["line 3", "run.judge.model", "judge"],
            ),
            (
                "[run.hints.options]\nalways_ask = true\n",
                &["line 2", "always_ask", "[run.hints]"],
            ),
            (
                "[run]\nmoney = 5.0\n[run.judge]\nmodel = \"http://127.0.0.1:1/v1#none-such\"\n",
                &["line 2", "run.money", "price"],
            ),
            (
                "[run]\n[run.publish]\nname = \"x\"\n",
                &["line 2", "folder"],
            ),
            (
                "[run.publish]\nfolder = \"release\"\nversion = \"one\"\n",
                &["line 1", "run.publish", "MAJOR.MINOR.PATCH"],
            ),
            (
                "[run.publish]\nfolder = \"release\"\nsplits = [\"by=\"]\n",
                &["line 3", "by=COLUMN"],
            ),
            ("[run]\nper_repo = 0\n", &["line 2", "per_repo"]),
            (
                "[source.filters]\nmerged = { after = \"2024-06-01\" }\npushed = { before = \"2024-01-01\" }\n",
                &["line 1", "nothing could pass"],
            ),
            (
                "[source.filters]\nchanged_lines = { at_most = 2 }\nhunks = { above = 2 }\n",
                &["line 1", "nothing could pass"],
            ),
            (
                "[source.filters]\nedits_tests = true\nchanged_files = { below = 1 }\n",
                &["line 1", "nothing could pass"],
            ),
        ] {
            let why = Config::parse(text, "atlas.toml").unwrap_err().chain();
            for word in ["atlas.toml"].iter().chain(words) {
                assert!(why.contains(word), "{word}: {why}");
            }
        }
    }

    #[test]
    fn what_can_work_is_taken() {
        let text = "[run]\nmoney = 5.0\nper_repo = 4\n[run.judge]\nmodel = \"judge\"\n[run.hints]\n\
                    [run.publish]\nfolder = \"release\"\nsplits = [\"by=language\"]\n[models.judge]\nprovider = \"noise\"\n";
        let config = Config::parse(text, "atlas.toml").unwrap();
        assert!(config.run.judge.unwrap().reject_low && config.run.hints.is_some());
        assert!(config.run.classify.enabled && config.run.publish.unwrap().environments);
    }
}
