//! The models of a run, and what they may spend.

use super::ensemble::{EnsembleOptions, named};
use super::paid::Metered;
use crate::Config;
use atlas_core::{Error, ErrorKind, Judge, LanguageModel};
use atlas_judge::ensemble::{Ensemble, EnsembleJudge, Question};
use atlas_llm::{
    Batches, Budget, Estimate, Exchanges, Limits, ModelConfig, Price, Provider, Purse, Rehearsal,
    Remembered, WaitingBatch, open_model_within,
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

/// Opened models with their common budget and their ledger: one, or the members of an ensemble.
#[derive(Clone, Debug)]
pub struct ModelSession {
    members: Vec<SessionMember>,
    ensemble: Option<EnsembleOptions>,
    purse: Arc<Purse>,
    batches: Option<Arc<Batches>>,
}

/// A model of a session.
#[derive(Clone, Debug)]
struct SessionMember {
    name: String,
    model: Arc<dyn LanguageModel>,
    settings: Value,
    rehearsal: Option<Arc<Rehearsal>>,
}

/// Which models a session opens.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionModels {
    /// Their texts, each a table `[models.NAME]` of the configuration, else as
    /// [`ModelConfig`](atlas_llm::ModelConfig) reads it, such as `openai:NAME`, an address, `replay:FILE`, `scripted:FILE` or
    /// `noise:SEED`. `NAME=` may stand before each: the member's name, which else is the whole text.
    pub models: Vec<String>,
    /// How several of them become one.
    pub ensemble: EnsembleOptions,
}

impl From<&[String]> for SessionModels {
    /// Under the rule of the question.
    fn from(models: &[String]) -> Self {
        Self {
            models: models.to_vec(),
            ensemble: EnsembleOptions::default(),
        }
    }
}

impl SessionModels {
    /// Names and models.
    fn named(&self) -> Result<Vec<(&str, &str)>, Error> {
        let named = self.models.iter().map(|text| {
            let (name, model) = named(text);
            (name.unwrap_or(text), model)
        });
        let named: Vec<(&str, &str)> = named.collect();
        if named.is_empty() {
            let why = "none is named";
            return Err(Error::new(ErrorKind::InvalidInput, "open the model:", why));
        }
        Ok(named)
    }

    /// The model in a text, without the member's name before it.
    pub fn model(text: &str) -> &str {
        named(text).1
    }
}

impl ModelSession {
    /// Opens the model that a text names, as of [`SessionModels::models`]. `budget` is read by [`Limits`], such as
    /// `calls=100,tokens=2M`; without it nothing is limited.
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
    /// As [`ModelSession::open_all`].
    pub fn open_with(
        model: &str,
        config: &Config,
        options: &SessionOptions,
    ) -> Result<Self, Error> {
        let models = SessionModels::from([model.to_owned()].as_slice());
        Self::open_all(&models, config, options)
    }

    /// Opens models that share one budget and one file of exchanges. Several are an ensemble; one is itself.
    ///
    /// # Errors
    /// As [`ModelSession::open`]; there is no model; the file of exchanges cannot be used, or a total is limited without
    /// one; the model has no batches, or several are to be asked in batches; without `batch_poll`, some of a model's
    /// questions wait in a batch.
    pub fn open_all(
        models: &SessionModels,
        config: &Config,
        options: &SessionOptions,
    ) -> Result<Self, Error> {
        let read = |text: &Option<String>| -> Result<Option<Limits>, Error> {
            text.as_deref().map(str::parse).transpose()
        };
        let (limits, total) = (
            read(&options.budget)?.unwrap_or_default(),
            read(&options.total_budget)?,
        );
        let named = models.named()?;
        let found: Result<Vec<ModelConfig>, Error> =
            named.iter().map(|(_, model)| config.model(model)).collect();
        let found = found?;
        // Of what costs nothing only a total is worth a file.
        let is_worth_it = total.is_some() || !found.iter().all(is_free);
        let kept = options.exchanges.as_deref().filter(|_| is_worth_it);
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
        let batches = match (options.batch_poll, &exchanges, found.as_slice()) {
            (Some(poll), _, [model]) => {
                let settings = model.answer_settings();
                Some(Arc::new(Batches::open(model, &settings, &purse, poll)?))
            }
            (Some(_), ..) => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "ask in batches:",
                    "several models are named; ask each of them by itself, and put their results together with `atlas combine`",
                ));
            }
            (None, Some(exchanges), models) => {
                for model in models {
                    nothing_waits(
                        &exchanges.waiting_for(&model.name(), &model.answer_settings())?,
                    )?;
                }
                None
            }
            (None, None, _) => None,
        };
        let members: Result<Vec<SessionMember>, Error> = named
            .iter()
            .zip(&found)
            .map(|((name, _), model)| {
                opened(name, model, &purse, exchanges.as_ref(), batches.is_some())
            })
            .collect();
        let session = Self::with_members(models, members?, purse);
        Ok(Self { batches, ..session })
    }

    /// The batches of the model, where it is asked in such.
    pub(crate) fn batches(&self) -> Option<&Batches> {
        self.batches.as_deref()
    }

    /// The same session of one model with another model in its place, which nobody pays.
    pub(crate) fn standing_in(&self, model: Arc<dyn LanguageModel>) -> Self {
        let member = SessionMember {
            model,
            rehearsal: None,
            ..self.members[0].clone()
        };
        Self {
            members: vec![member],
            ensemble: None,
            purse: Arc::default(),
            batches: None,
        }
    }

    /// A dry run: the models are not opened and nothing is asked, and [`ModelSession::estimates`] says what would have
    /// been, of a cascade at most. Answers are made up, so results of such a run are worth nothing. A file of exchanges
    /// that is there answers what it can.
    ///
    /// # Errors
    /// A text that names no model; there is none; a file that cannot be used.
    pub fn rehearsing(
        models: &SessionModels,
        config: &Config,
        exchanges: Option<&Path>,
    ) -> Result<Self, Error> {
        let exchanges = exchanges.filter(|path| path.exists());
        let exchanges = exchanges.map(Exchanges::open).transpose()?.map(Arc::new);
        let members: Result<Vec<SessionMember>, Error> = models
            .named()?
            .into_iter()
            .map(|(name, model)| {
                let model = config.model(model)?;
                let settings = model.answer_settings();
                let mut rehearsal = Rehearsal::new(&model);
                if let Some(exchanges) = &exchanges {
                    rehearsal = rehearsal.knowing(Arc::clone(exchanges), &settings);
                }
                let rehearsal = Arc::new(rehearsal);
                let model: Arc<dyn LanguageModel> = Arc::<Rehearsal>::clone(&rehearsal);
                Ok(SessionMember {
                    name: name.to_owned(),
                    model,
                    settings,
                    rehearsal: Some(rehearsal),
                })
            })
            .collect();
        Ok(Self::with_members(models, members?, Arc::default()))
    }

    fn with_members(
        models: &SessionModels,
        members: Vec<SessionMember>,
        purse: Arc<Purse>,
    ) -> Self {
        Self {
            ensemble: (members.len() > 1).then(|| models.ensemble.clone()),
            members,
            purse,
            batches: None,
        }
    }

    /// What a dry run would have asked, model by model; empty of a real run.
    pub fn estimates(&self) -> Vec<Estimate> {
        let rehearsals = self.members.iter().filter_map(|one| one.rehearsal.as_ref());
        rehearsals.map(|rehearsal| rehearsal.estimate()).collect()
    }

    /// How the members become one judge of this question; none of a session with one model. A dry run asks all of them.
    pub(super) fn ensemble(
        &self,
        question: &Question,
        threshold: f64,
    ) -> Result<Option<Ensemble>, Error> {
        let Some(options) = &self.ensemble else {
            return Ok(None);
        };
        let names: Vec<String> = self.members.iter().map(|one| one.name.clone()).collect();
        let found = options.ensemble(&names, question, threshold)?;
        let is_rehearsal = self.members.iter().any(|one| one.rehearsal.is_some());
        Ok(Some(if is_rehearsal {
            found.asking_all()
        } else {
            found
        }))
    }

    /// One judge of the members: an ensemble's, or the only one's.
    pub(super) fn judge(
        &self,
        ensemble: Option<Ensemble>,
        question: Question,
        judge: impl Fn(Arc<dyn LanguageModel>) -> Result<Arc<dyn Judge>, Error>,
    ) -> Result<Arc<dyn Judge>, Error> {
        let Some(ensemble) = ensemble else {
            return judge(self.model());
        };
        let judges: Result<Vec<_>, Error> = self.models().map(judge).collect();
        Ok(Arc::new(EnsembleJudge::new(ensemble, question, judges?)?))
    }

    /// The models, in the order in which they are named.
    pub(super) fn models(&self) -> impl Iterator<Item = Arc<dyn LanguageModel>> {
        self.members.iter().map(|one| Arc::clone(&one.model))
    }

    /// What of the models and of their ensemble changes answers: what a run's settings begin with.
    pub(super) fn described(&self, ensemble: Option<&Ensemble>) -> Value {
        let Some(ensemble) = ensemble else {
            return json!({"model": self.model().name(), "model_settings": self.settings()});
        };
        let members = self.members.iter().zip(ensemble.members());
        let members = members.map(|(one, member)| {
            json!({
                "name": one.name,
                "model": one.model.name(),
                "model_settings": one.settings,
                "calibration": member.calibration,
            })
        });
        json!({
            "members": members.collect::<Vec<Value>>(),
            "rule": ensemble.rule(),
            "threshold": ensemble.threshold(),
        })
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
        let name = model.name().to_owned();
        let model = Budget::sharing(model, Arc::clone(&purse), None);
        let member = SessionMember {
            model: metered(&name, None, true, Remembered::new, model),
            name,
            settings: Value::Null,
            rehearsal: None,
        };
        Ok(Self {
            members: vec![member],
            ensemble: None,
            purse,
            batches: None,
        })
    }

    /// What of the first model's settings may change an answer, its name left out
    /// ([`answer_settings`](atlas_llm::ModelConfig::answer_settings)); null for a model that the caller brought.
    pub fn settings(&self) -> &Value {
        &self.members[0].settings
    }

    /// The first model; every call counts against the budget.
    pub fn model(&self) -> Arc<dyn LanguageModel> {
        Arc::clone(&self.members[0].model)
    }

    /// What was spent: `calls`, `failed_calls`, `prompt_tokens` and `completion_tokens` as reported,
    /// `tokens` and `money` as they count against the budget (`money` is null where a price is unknown), and `models` with an account each.
    /// Where earlier runs have paid for the same results, `in_all` has `calls`, `tokens` and `money` of all together.
    pub fn ledger(&self) -> Value {
        ledger(&self.purse)
    }
}

fn is_free(model: &ModelConfig) -> bool {
    matches!(
        model.provider,
        Provider::Replay | Provider::Scripted | Provider::Noise
    )
}

/// Opens one model. What costs nothing is not kept.
fn opened(
    name: &str,
    model: &ModelConfig,
    purse: &Arc<Purse>,
    exchanges: Option<&Arc<Exchanges>>,
    in_batches: bool,
) -> Result<SessionMember, Error> {
    let (settings, is_free) = (model.answer_settings(), is_free(model));
    let exchanges = exchanges.filter(|_| !is_free).cloned();
    let price = model.price.or(is_free.then(Price::default));
    let price = if in_batches {
        price.map(Price::in_batches)
    } else {
        price
    };
    // Every patch of a bug needs the same specification; it is written once.
    let remembered = |paid| {
        let remembered = Remembered::new(paid);
        match exchanges {
            Some(exchanges) => remembered.kept_in(exchanges, &settings),
            None => remembered,
        }
    };
    let model = open_model_within(model, purse)?;
    Ok(SessionMember {
        name: name.to_owned(),
        model: metered(name, price, !is_free, remembered, model),
        settings,
        rehearsal: None,
    })
}

/// A model that remembers, with its answers counted on either side: those that were paid, and all.
fn metered<M: LanguageModel + 'static>(
    name: &str,
    price: Option<Price>,
    is_timed: bool,
    remembered: impl FnOnce(Metered<M>) -> Remembered<Metered<M>>,
    model: M,
) -> Arc<dyn LanguageModel> {
    let paid = Metered {
        inner: model,
        member: name.to_owned(),
        price,
        is_paid: true,
        is_timed,
    };
    Arc::new(Metered {
        inner: remembered(paid),
        member: name.to_owned(),
        price,
        is_paid: false,
        is_timed: false,
    })
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
