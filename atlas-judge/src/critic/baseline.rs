//! Chance with the classes' weights.

use super::judge::{lacks, name};
use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Error, ErrorKind, Judge, Judgement, RunContext, Subject,
};
use serde_json::{Map, Value, json};

/// A coin that says `pass` as often as tests pass (paper 004, section 4.1: 85 of 100).
///
/// The throw follows from the seed, the row, the candidate patch and the test (the attachment
/// `test`, if there is one): the order of the calls does not matter.
///
/// Labels: `pass`, `fail`. The confidence is the chance of the side that fell. Details: `share`,
/// `seed`.
#[derive(Clone, Debug)]
pub struct WeightedRandom {
    share: f64,
    seed: u64,
}

impl WeightedRandom {
    /// A coin; `share` is the chance of `pass`, 0 to 1.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a share outside 0 to 1.
    pub fn new(share: f64, seed: u64) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "set up the random baseline:",
                format!("share {share} is outside 0 to 1"),
            ));
        }
        Ok(Self { share, seed })
    }
}

/// FNV-1a over the parts, each ended, so that `ab`, `c` is not `a`, `bc`; then mixed until every bit
/// hangs on every other.
pub(super) fn hash(seed: u64, parts: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    let mut add = |byte: u8| {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    };
    for part in parts {
        part.iter().copied().for_each(&mut add);
        part.len().to_le_bytes().into_iter().for_each(&mut add);
    }
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A hash as a number from 0 to 1, 1 excluded.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
pub(super) fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[async_trait]
impl Judge for WeightedRandom {
    fn id(&self) -> &'static str {
        "critic-random"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        cx.check("throw a coin")?;
        let patch = subject
            .patch
            .as_ref()
            .ok_or_else(|| lacks(subject, "a candidate patch"))?;
        let test = subject
            .attachments
            .get("test")
            .and_then(|test| test.get("id"));
        let test = test.and_then(Value::as_str).unwrap_or_default();
        let row = name(subject);
        let thrown = unit(hash(
            self.seed,
            &[row.as_bytes(), patch.as_bytes(), test.as_bytes()],
        ));
        let passes = thrown < self.share;
        let mut details = Map::new();
        details.insert("share".to_owned(), json!(self.share));
        details.insert("seed".to_owned(), json!(self.seed));
        Ok(Judgement {
            label: if passes { "pass" } else { "fail" }.to_owned(),
            confidence: Confidence {
                value: Some(if passes { self.share } else { 1.0 - self.share }),
                source: ConfidenceSource::Rule,
            },
            reasoning: "a coin fell so".to_owned(),
            evidence: Vec::new(),
            details,
        })
    }
}
