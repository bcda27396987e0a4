//! Values of options. The words of an enum and the names of a struct's fields come from serde's derives, so that the command
//! line and Python need no lists of their own.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::value::Error as Unused;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::Value;

/// Notes which names are asked for, and has nothing to give.
struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Unused;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unused> {
        Err(Unused::custom("neither an enum nor a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unused> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unused> {
        *self.0 = variants;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// What JSON calls the fields of a struct or the variants of an enum, in their order. Empty for other types, and for
/// structs with a flattened field.
pub fn names_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It always fails: nothing was given to read.
    T::deserialize(Asked(&mut names)).err();
    names
}

/// Reads a word of an enum without content: a dash is as good as an underscore.
///
/// # Errors
/// Another word.
pub fn read_word<T: DeserializeOwned>(word: &str) -> Result<T, serde_json::Error> {
    let alike = |name: &&&str| name.replace('_', "-") == word.replace('_', "-");
    let name = names_of::<T>().iter().find(alike).map_or(word, |name| name);
    serde_json::from_value(Value::from(name))
}

/// Reads an option of the command line that is a word of an enum, with dashes.
pub(crate) fn word<T>() -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let words = names_of::<T>().iter().map(|name| name.replace('_', "-"));
    PossibleValuesParser::new(words).try_map(|word| read_word(&word))
}

/// Reads a number from 0 to a bound.
pub(crate) fn within(text: &str, most: f64) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value| (0.0..=most).contains(value))
        .ok_or_else(|| format!("must be a number from 0 to {most}"))
}

/// Reads a percentile, 0 to 100.
pub(crate) fn percentile(text: &str) -> Result<f64, String> {
    within(text, 100.0)
}

#[cfg(test)]
mod tests {
    use super::{names_of, read_word};
    use crate::{ChooseOptions, ReviewMode};
    use atlas_judge::variant::Variant;

    #[test]
    fn names_are_those_of_json() {
        assert_eq!(
            names_of::<Variant>(),
            ["default", "function", "post_commit"]
        );
        assert!(names_of::<ChooseOptions>().contains(&"among"));
        assert!(names_of::<u32>().is_empty());
    }

    #[test]
    fn a_word_may_have_dashes() {
        assert_eq!(
            read_word::<Variant>("post-commit").ok(),
            Some(Variant::PostCommit)
        );
        assert_eq!(
            read_word::<Variant>("post_commit").ok(),
            Some(Variant::PostCommit)
        );
        assert!(read_word::<ReviewMode>("thorough").is_err());
    }
}
