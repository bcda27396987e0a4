//! How many tokens a text has.

use std::fmt;

/// A tokenizer that fails.
#[derive(Debug, thiserror::Error)]
#[error("tokenizer {name}: {why}")]
pub struct TokenError {
    /// Which.
    pub name: String,
    /// What it says.
    pub why: String,
}

/// Counts tokens.
pub trait TokenCounter: fmt::Debug + Send + Sync {
    /// How many tokens a text has, without special ones.
    ///
    /// # Errors
    /// The tokenizer fails on it.
    fn count(&self, text: &str) -> Result<usize, TokenError>;
}

/// A tokenizer as Hugging Face's `tokenizer.json` describes it.
#[cfg(feature = "tokenizers")]
#[derive(Debug)]
pub struct TokenizerFile {
    name: String,
    tokenizer: Box<tokenizers::Tokenizer>,
}

#[cfg(feature = "tokenizers")]
impl TokenizerFile {
    /// Reads the file's bytes; `name` is what errors say.
    ///
    /// # Errors
    /// It is no such file.
    pub fn read(name: impl Into<String>, bytes: &[u8]) -> Result<Self, TokenError> {
        let name = name.into();
        match tokenizers::Tokenizer::from_bytes(bytes) {
            Ok(mut tokenizer) => {
                // A file may cut what is long, or fill what is short.
                tokenizer.with_padding(None);
                match tokenizer.with_truncation(None) {
                    Ok(_) => Ok(Self {
                        name,
                        tokenizer: Box::new(tokenizer),
                    }),
                    Err(why) => Err(TokenError {
                        name,
                        why: why.to_string(),
                    }),
                }
            }
            Err(why) => Err(TokenError {
                name,
                why: why.to_string(),
            }),
        }
    }
}

#[cfg(feature = "tokenizers")]
impl TokenCounter for TokenizerFile {
    fn count(&self, text: &str) -> Result<usize, TokenError> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let encoding = encoding.map_err(|why| TokenError {
            name: self.name.clone(),
            why: why.to_string(),
        })?;
        Ok(encoding.len())
    }
}
