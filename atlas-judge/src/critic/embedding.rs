//! Likeness of embeddings: the paper's "edit distance" baseline.

use super::baseline::{hash, unit};
use super::judge::{lacks, row};
use crate::metrics::{GridThreshold, cosine, grid_threshold};
use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Embedder, Error, InstanceId, Judge, Judgement, Patch, RunContext,
    Subject,
};
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

/// Counts of character sequences, hashed into a vector: an embedder without weights. It sees what a
/// text is written with, not what it means; the paper used `CodeBERT`, whose numbers it does not give.
#[derive(Clone, Debug)]
pub struct HashedNgrams {
    shortest: usize,
    longest: usize,
    dimensions: usize,
    name: String,
}

impl HashedNgrams {
    /// Sequences of `shortest` to `longest` bytes into `dimensions` numbers; 0 counts as 1.
    pub fn new(shortest: usize, longest: usize, dimensions: usize) -> Self {
        let shortest = shortest.max(1);
        let longest = longest.max(shortest);
        let dimensions = dimensions.max(1);
        Self {
            name: format!("hashed-ngrams-{shortest}-{longest}-{dimensions}"),
            shortest,
            longest,
            dimensions,
        }
    }

    /// The vector of a text.
    pub fn vector(&self, text: &str) -> Vec<f64> {
        let mut vector = vec![0.0; self.dimensions];
        // Runs of white space say nothing.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for length in self.shortest..=self.longest {
            for ngram in text.as_bytes().windows(length) {
                let hash = hash(0, &[ngram]);
                let place = usize::try_from(hash >> 1).unwrap_or(0) % self.dimensions;
                vector[place] += if hash & 1 == 0 { 1.0 } else { -1.0 };
            }
        }
        vector
    }
}

impl Default for HashedNgrams {
    /// Sequences of 3 to 5 bytes, 1,024 numbers.
    fn default() -> Self {
        Self::new(3, 5, 1024)
    }
}

#[async_trait]
impl Embedder for HashedNgrams {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        cx.check("embed texts")?;
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Another embedder over the beginnings of texts: models read a few hundred to a few thousand tokens, and
/// servers refuse what is longer.
#[derive(Clone, Debug)]
pub struct FirstCharacters<E> {
    inner: E,
    most: usize,
    name: String,
}

impl<E: Embedder> FirstCharacters<E> {
    /// Shows `most` characters of a text, which the name tells.
    pub fn new(inner: E, most: usize) -> Self {
        let name = format!("{}-first-{most}", inner.name());
        Self { inner, most, name }
    }
}

#[async_trait]
impl<E: Embedder> Embedder for FirstCharacters<E> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        let cut: Vec<String> = texts
            .iter()
            .map(|text| text.chars().take(self.most).collect())
            .collect();
        self.inner.embed(cx, &cut).await
    }
}

/// A candidate patch, the gold patch, and whether the candidate is right.
#[derive(Clone, Debug)]
pub struct LikenessExample {
    /// The candidate.
    pub candidate: Patch,
    /// The gold patch.
    pub gold: Patch,
    /// Whether the candidate passes.
    pub passes: bool,
}

/// Whether an instance belongs to the validation split: about this share of all, always the same
/// ones for a seed. All patches of an instance fall on one side, so that no threshold is tried on
/// patches of the tasks that it was found on.
pub fn in_validation_split(instance: &InstanceId, share: f64, seed: u64) -> bool {
    unit(hash(seed, &[instance.as_str().as_bytes()])) < share
}

/// The threshold of likeness with the best F1 on a validation set; none without a patch that passes,
/// or where a patch has no likeness.
///
/// # Errors
/// The embedder's.
///
/// # Cancellation
/// As the embedder.
pub async fn fit_threshold(
    cx: &RunContext,
    embedder: &dyn Embedder,
    examples: &[LikenessExample],
) -> Result<Option<GridThreshold>, Error> {
    let pairs: Vec<(String, String)> = examples
        .iter()
        .map(|example| (text(&example.candidate), text(&example.gold)))
        .collect();
    let likenesses = likenesses(cx, embedder, &pairs).await?;
    let passes = examples.iter().map(|example| example.passes);
    Ok(grid_threshold(&passes.zip(likenesses).collect::<Vec<_>>()))
}

fn text(patch: &Patch) -> String {
    String::from_utf8_lossy(patch.as_bytes()).into_owned()
}

/// The cosines of pairs of texts; 0 where one of them is empty, which no model is asked about. Every text
/// is embedded once.
async fn likenesses(
    cx: &RunContext,
    embedder: &dyn Embedder,
    pairs: &[(String, String)],
) -> Result<Vec<f64>, Error> {
    let texts = pairs.iter().flat_map(|(a, b)| [a, b]);
    let texts: BTreeSet<&String> = texts.filter(|text| !text.trim().is_empty()).collect();
    let texts: Vec<String> = texts.into_iter().cloned().collect();
    let vectors = embedder.embed(cx, &texts).await?;
    let vectors: BTreeMap<&String, Vec<f64>> = texts.iter().zip(vectors).collect();
    let likeness = |(a, b): &(String, String)| {
        let found = vectors.get(a).zip(vectors.get(b));
        found.and_then(|(a, b)| cosine(a, b)).unwrap_or(0.0)
    };
    Ok(pairs.iter().map(likeness).collect())
}

/// A critic without a model of language: `pass` where candidate and gold patch are alike.
///
/// Labels: `pass`, `fail`. No confidence: likeness is no probability. Details: `likeness`,
/// `threshold`, `embedder`.
#[derive(Debug)]
pub struct EmbeddingCritic<E> {
    embedder: E,
    threshold: f64,
    id: String,
}

impl<E: Embedder> EmbeddingCritic<E> {
    /// A critic that passes from this cosine on, usually one that [`fit_threshold`] found.
    pub fn new(embedder: E, threshold: f64) -> Self {
        let id = format!("critic-likeness-{}", embedder.name());
        Self {
            embedder,
            threshold,
            id,
        }
    }
}

#[async_trait]
impl<E: Embedder> Judge for EmbeddingCritic<E> {
    fn id(&self) -> &str {
        &self.id
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let patch = subject
            .patch
            .as_ref()
            .ok_or_else(|| lacks(subject, "a candidate patch"))?;
        let gold = subject
            .instance
            .gold_patch()
            .map_err(|why| row(subject, why))?;
        let pair = [(text(patch), text(&gold))];
        let likeness = likenesses(cx, &self.embedder, &pair).await?[0];
        let passes = likeness >= self.threshold;
        let mut details = Map::new();
        details.insert("likeness".to_owned(), json!(likeness));
        details.insert("threshold".to_owned(), json!(self.threshold));
        details.insert("embedder".to_owned(), json!(self.embedder.name()));
        let relation = if passes { "at least" } else { "below" };
        Ok(Judgement {
            label: if passes { "pass" } else { "fail" }.to_owned(),
            confidence: Confidence {
                value: None,
                source: ConfidenceSource::Missing,
            },
            reasoning: format!(
                "the cosine with the gold patch is {likeness:.3}, {relation} {:.3}",
                self.threshold
            ),
            evidence: Vec::new(),
            details,
        })
    }
}
