//! The model of a run, and what it may spend.

use super::paid::Metered;
use crate::Config;
use atlas_core::{Error, ErrorKind, LanguageModel};
use atlas_llm::{
    Batches, Budget, Estimate, Exchanges, Limits, Provider, Purse, Rehearsal, Remembered,
    WaitingBatch, open_model_within,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a session is paid for.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// What this run may spend, as [`Limits`] reads it, such as `calls=100,tokens=2M`. Default: no limit.
    pub budget: Option<String>,
    /// What all runs that write to `out` may spend together, read likewise, without `time`. Default: no limit.
    pub total_budget: Option<String>,
    /// A file of [`Exchanges`]: what it holds is not asked, and so not paid, again. Models that cost nothing (`replay`,
    /// `scripted`, `noise`) are not kept. Default: none.
    pub exchanges: Option<PathBuf>,
    /// The file of results, by which the file of exchanges knows the runs that are counted together.
    pub out: Option<PathBuf>,
    /// Ask in batches, and look every so many seconds whether they are answered; it needs a file of exchanges. Default:
    /// no batches.
    pub batch_poll: Option<f64>,
}

impl SessionOptions {
    /// The name of the run in the file of exchanges: that of the results beside it, so that a folder may be moved,
    /// else their whole path.
    fn run(&self) -> String {
        let out = self.out.as_deref().unwrap_or(Path::new(""));
        let folder = |path: &Path| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
        };
        let beside = self.exchanges.as_deref().and_then(folder);
        match (folder(out), out.file_name()) {
            (Some(own), Some(name)) if beside.as_ref() != Some(&own) => {
                own.join(name).display().to_string()
            }
            (_, Some(name)) => name.to_string_lossy().into_owned(),
            (_, None) => out.display().to_string(),
        }
    }
}

/// An opened model with its budget and its ledger.
#[derive(Clone, Debug)]
pub struct ModelSession {
    model: Arc<dyn LanguageModel>,
    purse: Arc<Purse>,
    settings: Value,
    rehearsal: Option<Arc<Rehearsal>>,
    batches: Option<Arc<Batches>>,
}

impl ModelSession {
    /// Opens the model that a text names: a table `[models.NAME]` of the configuration, else as
    /// [`ModelConfig`](atlas_llm::ModelConfig) reads it, such as `openai:NAME`, an address, `replay:FILE`, `scripted:FILE` or
    /// `noise:SEED`. `budget` is read by [`Limits`], such as `calls=100,tokens=2M`; without it nothing is
    /// limited.
    ///
    /// # Errors
    /// A text that names no model or no limits; a file or key that is missing.
    pub fn open(model: &str, budget: Option<&str>, config: &Config) -> Result<Self, Error> {
        let options = SessionOptions {
            budget: budget.map(str::to_owned),
            ..SessionOptions::default()
        };
        Self::open_with(model, config, &options)
    }

    /// The same, with more of how it is paid for.
    ///
    /// # Errors
    /// As [`ModelSession::open`]; the file of exchanges cannot be used, or a total is limited without one; the model has
    /// no batches, or, without `batch_poll`, some of its questions wait in one.
    pub fn open_with(
        model: &str,
        config: &Config,
        options: &SessionOptions,
    ) -> Result<Self, Error> {
        let read = |text: &Option<String>| -> Result<Option<Limits>, Error> {
            text.as_deref().map(str::parse).transpose()
        };
        let limits = read(&options.budget)?.unwrap_or_default();
        let total = read(&options.total_budget)?;
        let model = config.model(model)?;
        let settings = model.answer_settings();
        let is_free = matches!(
            model.provider,
            Provider::Replay | Provider::Scripted | Provider::Noise
        );
        // Of what costs nothing only a total is worth a file.
        let kept = options.exchanges.as_deref();
        let kept = kept.filter(|_| !is_free || total.is_some());
        let exchanges = kept.map(Exchanges::open).transpose()?.map(Arc::new);
        let purse = Arc::new(match (&exchanges, total) {
            (Some(exchanges), total) => {
                let (total, run) = (total.unwrap_or_default(), options.run());
                Purse::of_run(limits, total, Arc::clone(exchanges), run)?
            }
            (None, None) => Purse::new(limits),
            (None, Some(_)) => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read the total budget:",
                    "what earlier runs have paid stands in the file of exchanges; keep one, or limit this run alone",
                ));
            }
        });
        let batches = match (options.batch_poll, &exchanges) {
            (Some(poll), _) => Some(Arc::new(Batches::open(&model, &settings, &purse, poll)?)),
            (None, Some(exchanges)) => {
                nothing_waits(&exchanges.waiting_for(&model.name(), &settings)?)?;
                None
            }
            (None, None) => None,
        };
        // Every patch of a bug needs the same specification; it is written once.
        let mut remembered = Remembered::new(Metered(open_model_within(&model, &purse)?));
        if let Some(exchanges) = exchanges.filter(|_| !is_free) {
            remembered = remembered.kept_in(exchanges, &settings);
        }
        Ok(Self {
            model: Arc::new(remembered),
            purse,
            settings,
            rehearsal: None,
            batches,
        })
    }

    /// The batches of the model, where it is asked in such.
    pub(crate) fn batches(&self) -> Option<&Batches> {
        self.batches.as_deref()
    }

    /// The same session with another model in its place, which nobody pays.
    pub(crate) fn standing_in(&self, model: Arc<dyn LanguageModel>) -> Self {
        Self {
            model,
            purse: Arc::default(),
            settings: self.settings.clone(),
            rehearsal: None,
            batches: None,
        }
    }

    /// A dry run: the model that a text names is not opened and nothing is asked, and
    /// [`ModelSession::estimate`] says what would have been. Answers are made up, so results of such a run are worth
    /// nothing. A file of exchanges that is there answers what it can.
    ///
    /// # Errors
    /// A text that names no model; a file that cannot be used.
    pub fn rehearsing(
        model: &str,
        config: &Config,
        exchanges: Option<&Path>,
    ) -> Result<Self, Error> {
        let model = config.model(model)?;
        let settings = model.answer_settings();
        let mut rehearsal = Rehearsal::new(&model);
        if let Some(path) = exchanges.filter(|path| path.exists()) {
            rehearsal = rehearsal.knowing(Arc::new(Exchanges::open(path)?), &settings);
        }
        let rehearsal = Arc::new(rehearsal);
        let model: Arc<dyn LanguageModel> = Arc::<Rehearsal>::clone(&rehearsal);
        Ok(Self {
            model,
            purse: Arc::default(),
            settings,
            rehearsal: Some(rehearsal),
            batches: None,
        })
    }

    /// What a dry run would have asked; none of a real run.
    pub fn estimate(&self) -> Option<Estimate> {
        self.rehearsal
            .as_ref()
            .map(|rehearsal| rehearsal.estimate())
    }

    /// A model that the caller brings, within a budget as [`ModelSession::open`] reads it. Its tokens count as
    /// it reports them; it has no price, so money is not limited.
    ///
    /// # Errors
    /// A text that names no limits, or limits money.
    pub fn of(model: Arc<dyn LanguageModel>, budget: Option<&str>) -> Result<Self, Error> {
        let limits: Limits = budget.map(str::parse).transpose()?.unwrap_or_default();
        if limits.money.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read the budget:",
                "this model has no price; limit calls, tokens or time",
            ));
        }
        let purse = Arc::new(Purse::new(limits));
        let model = Budget::sharing(model, Arc::clone(&purse), None);
        let model = Arc::new(Remembered::new(Metered(model)));
        Ok(Self {
            model,
            purse,
            settings: Value::Null,
            rehearsal: None,
            batches: None,
        })
    }

    /// What of the model's settings may change an answer, its name left out
    /// ([`answer_settings`](atlas_llm::ModelConfig::answer_settings)); null for a model that the caller brought.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// The model; every call counts against the budget.
    pub fn model(&self) -> Arc<dyn LanguageModel> {
        Arc::clone(&self.model)
    }

    /// What was spent: `calls`, `failed_calls`, `prompt_tokens` and `completion_tokens` as reported,
    /// `tokens` and `money` as they count against the budget (`money` is null where a price is unknown), and `models` with an account each.
    /// Where earlier runs have paid for the same results, `in_all` has `calls`, `tokens` and `money` of all together.
    pub fn ledger(&self) -> Value {
        ledger(&self.purse)
    }
}

/// Refuses to ask what a server works on already: it would be paid twice.
fn nothing_waits(batches: &[WaitingBatch]) -> Result<(), Error> {
    let Some(first) = batches.first() else {
        return Ok(());
    };
    let questions: u64 = batches.iter().map(|batch| batch.questions).sum();
    let name = first.id.as_ref().unwrap_or(&first.token);
    let why = format!(
        "{questions} questions to this model wait for their answers in a batch; go on with `--batch`, or give it up with \
         `atlas exchanges FILE --forget-batch {name}`"
    );
    Err(Error::new(ErrorKind::InvalidInput, "ask the model:", why))
}

/// Where the exchanges behind a file of results are kept, unless another file is named: beside it, with
/// `.exchanges` behind its name.
pub fn exchanges_beside(results: &Path) -> PathBuf {
    let mut name = results.as_os_str().to_owned();
    name.push(".exchanges");
    name.into()
}

/// What was spent from a purse.
pub(crate) fn ledger(purse: &Purse) -> Value {
    let (ledger, before) = (purse.ledger(), purse.spent_before());
    let usage = ledger.usage();
    let failed: u64 = ledger.models.values().map(|one| one.failed_calls).sum();
    let mut told = json!({
        "calls": ledger.calls(),
        "failed_calls": failed,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "tokens": ledger.tokens(),
        "money": ledger.money(),
        "models": ledger.models,
    });
    if before.calls() > 0 {
        told["in_all"] = json!({
            "calls": before.calls() + ledger.calls(),
            "tokens": before.tokens() + ledger.tokens(),
            "money": before.money().zip(ledger.money()).map(|(before, now)| before + now),
        });
    }
    told
}
