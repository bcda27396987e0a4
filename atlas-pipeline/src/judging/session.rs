//! The models of a run, and what they may spend.

use super::ensemble::{EnsembleOptions, named};
use super::paid::Metered;
use crate::Config;
use atlas_core::{Error, ErrorKind, Judge, LanguageModel};
use atlas_judge::ensemble::{Ensemble, EnsembleJudge, Question};
use atlas_llm::{
    Budget, Estimate, Exchanges, Limits, Price, Provider, Purse, Rehearsal, Remembered,
    open_model_within,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opened models with their common budget and their ledger: one, or the members of an ensemble.
#[derive(Clone, Debug)]
pub struct ModelSession {
    members: Vec<SessionMember>,
    ensemble: Option<EnsembleOptions>,
    purse: Arc<Purse>,
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
        Self::open_keeping(model, budget, config, None)
    }

    /// The same, with a file of [`Exchanges`]: what it holds is not asked, and so not paid, again. Models that cost
    /// nothing (`replay`, `scripted`, `noise`) are not kept.
    ///
    /// # Errors
    /// As [`ModelSession::open`]; the file cannot be used.
    pub fn open_keeping(
        model: &str,
        budget: Option<&str>,
        config: &Config,
        exchanges: Option<&Path>,
    ) -> Result<Self, Error> {
        let purse = purse(budget)?;
        let member = opened(model, model, &purse, config, &mut Kept::new(exchanges))?;
        Ok(Self {
            members: vec![member],
            ensemble: None,
            purse,
        })
    }

    /// Opens models that share one budget and one file of exchanges. Several are an ensemble; one is itself.
    ///
    /// # Errors
    /// As [`ModelSession::open_keeping`]; there is no model.
    pub fn open_all(
        models: &SessionModels,
        budget: Option<&str>,
        config: &Config,
        exchanges: Option<&Path>,
    ) -> Result<Self, Error> {
        let purse = purse(budget)?;
        let mut kept = Kept::new(exchanges);
        Self::with_members(models, &purse, |name, model| {
            opened(name, model, &purse, config, &mut kept)
        })
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
        let mut kept = Kept::new(exchanges.filter(|path| path.exists()));
        Self::with_members(models, &Arc::default(), |name, model| {
            let model = config.model(model)?;
            let settings = model.answer_settings();
            let mut rehearsal = Rehearsal::new(&model);
            if let Some(exchanges) = kept.open()? {
                rehearsal = rehearsal.knowing(exchanges, &settings);
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
    }

    fn with_members(
        models: &SessionModels,
        purse: &Arc<Purse>,
        mut member: impl FnMut(&str, &str) -> Result<SessionMember, Error>,
    ) -> Result<Self, Error> {
        let members: Result<Vec<SessionMember>, Error> = models
            .models
            .iter()
            .map(|text| {
                let (name, model) = named(text);
                member(name.unwrap_or(text), model)
            })
            .collect();
        let members = members?;
        if members.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open the model:",
                "none is named",
            ));
        }
        Ok(Self {
            ensemble: (members.len() > 1).then(|| models.ensemble.clone()),
            members,
            purse: Arc::clone(purse),
        })
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
            model: metered(&name, None, Remembered::new, model),
            name,
            settings: Value::Null,
            rehearsal: None,
        };
        Ok(Self {
            members: vec![member],
            ensemble: None,
            purse,
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
    pub fn ledger(&self) -> Value {
        ledger(&self.purse)
    }
}

fn purse(budget: Option<&str>) -> Result<Arc<Purse>, Error> {
    let limits: Limits = budget.map(str::parse).transpose()?.unwrap_or_default();
    Ok(Arc::new(Purse::new(limits)))
}

/// A file of exchanges that is opened once, when a first model needs it.
struct Kept<'a> {
    path: Option<&'a Path>,
    opened: Option<Arc<Exchanges>>,
}

impl<'a> Kept<'a> {
    fn new(path: Option<&'a Path>) -> Self {
        Self { path, opened: None }
    }

    fn open(&mut self) -> Result<Option<Arc<Exchanges>>, Error> {
        if let (None, Some(path)) = (&self.opened, self.path) {
            self.opened = Some(Arc::new(Exchanges::open(path)?));
        }
        Ok(self.opened.clone())
    }
}

fn opened(
    name: &str,
    model: &str,
    purse: &Arc<Purse>,
    config: &Config,
    kept: &mut Kept<'_>,
) -> Result<SessionMember, Error> {
    let model = config.model(model)?;
    let settings = model.answer_settings();
    let is_free = matches!(
        model.provider,
        Provider::Replay | Provider::Scripted | Provider::Noise
    );
    let exchanges = if is_free { None } else { kept.open()? };
    let price = model.price.or(is_free.then(Price::default));
    // Every patch of a bug needs the same specification; it is written once.
    let remembered = |paid| {
        let remembered = Remembered::new(paid);
        match exchanges {
            Some(exchanges) => remembered.kept_in(exchanges, &settings),
            None => remembered,
        }
    };
    let model = open_model_within(&model, purse)?;
    Ok(SessionMember {
        name: name.to_owned(),
        model: metered(name, price, remembered, model),
        settings,
        rehearsal: None,
    })
}

/// A model that remembers, with its answers counted on either side: those that were paid, and all.
fn metered<M: LanguageModel + 'static>(
    name: &str,
    price: Option<Price>,
    remembered: impl FnOnce(Metered<M>) -> Remembered<Metered<M>>,
    model: M,
) -> Arc<dyn LanguageModel> {
    let paid = Metered {
        inner: model,
        member: name.to_owned(),
        price,
        is_paid: true,
    };
    Arc::new(Metered {
        inner: remembered(paid),
        member: name.to_owned(),
        price,
        is_paid: false,
    })
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
    let ledger = purse.ledger();
    let usage = ledger.usage();
    let failed: u64 = ledger.models.values().map(|one| one.failed_calls).sum();
    json!({
        "calls": ledger.calls(),
        "failed_calls": failed,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "tokens": ledger.tokens(),
        "money": ledger.money(),
        "models": ledger.models,
    })
}
