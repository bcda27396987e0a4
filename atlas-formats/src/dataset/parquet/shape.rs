//! A Parquet schema for rows that have none.

use super::{MAX_DEPTH, stored};
use crate::row::Row;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use std::sync::Arc;

/// What the values of a column have in common.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Null,
    Bool,
    Int,
    Float,
    Text,
    List(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

fn shape(value: &Value, depth: usize) -> Result<Shape, String> {
    if depth > MAX_DEPTH {
        return Err("nested too deeply".to_owned());
    }
    Ok(match value {
        Value::Null => Shape::Null,
        Value::Bool(_) => Shape::Bool,
        Value::Number(number) if number.is_i64() => Shape::Int,
        Value::Number(number) if number.is_u64() => {
            return Err(format!("{number} needs more than 63 bits"));
        }
        Value::Number(_) => Shape::Float,
        Value::String(_) => Shape::Text,
        Value::Array(items) => {
            let mut common = Shape::Null;
            for item in items {
                common = merged(common, shape(item, depth + 1)?)?;
            }
            Shape::List(Box::new(common))
        }
        Value::Object(map) if map.is_empty() => return Err("an object without keys".to_owned()),
        Value::Object(map) => Shape::Object(
            map.iter()
                .map(|(key, item)| Ok((key.clone(), shape(item, depth + 1)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

fn merged(a: Shape, b: Shape) -> Result<Shape, String> {
    Ok(match (a, b) {
        (Shape::Null, other) | (other, Shape::Null) => other,
        (Shape::List(a), Shape::List(b)) => Shape::List(Box::new(merged(*a, *b)?)),
        (Shape::Object(a), Shape::Object(b)) => {
            if a.len() != b.len() || !a.iter().zip(&b).all(|(a, b)| a.0 == b.0) {
                return Err("objects with different keys".to_owned());
            }
            let both = a.into_iter().zip(b);
            Shape::Object(
                both.map(|((key, a), (_, b))| Ok((key, merged(a, b)?)))
                    .collect::<Result<_, String>>()?,
            )
        }
        (a, b) if a == b => a,
        // `1` beside `1.5` would come back as `1.0`.
        (a, b) => return Err(format!("{} beside {}", a.name(), b.name())),
    })
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Int => "a whole number",
            Self::Float => "a fraction",
            Self::Text => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    fn to_type(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let primitive = |physical, logical| {
            Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical)
                .build()
        };
        let built = match self {
            Self::Bool => primitive(Physical::BOOLEAN, None),
            Self::Int => primitive(Physical::INT64, None),
            Self::Float => primitive(Physical::DOUBLE, None),
            Self::Null | Self::Text => primitive(Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Self::List(element) => {
                let list = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![element.to_type("element")?])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(list)])
                    .build()
            }
            Self::Object(fields) => {
                let fields: Result<Vec<_>, _> = fields
                    .iter()
                    .map(|(key, shape)| shape.to_type(key))
                    .collect();
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_fields(fields?)
                    .build()
            }
        };
        built.map(Arc::new)
    }
}

/// The columns of rows, in the order in which they come up, as they are seen one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes(Vec<(String, Shape)>);

impl Shapes {
    /// Takes a row into account.
    pub(super) fn add(&mut self, row: &Row) -> Result<(), String> {
        for (name, value) in row.columns() {
            let value = stored(name, value);
            let why = |why: String| {
                format!(
                    "row `{}`: column `{name}`: {why} has no place in a Parquet column; write JSON",
                    row.id()
                )
            };
            let found = shape(&value, 0).map_err(why)?;
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => {
                    let before = std::mem::replace(known, Shape::Null);
                    *known = merged(before, found).map_err(why)?;
                }
                None => self.0.push((name.clone(), found)),
            }
        }
        Ok(())
    }

    /// A schema for rows that were not read from Parquet.
    pub(super) fn schema(&self) -> Result<TypePtr, String> {
        let fields: Result<Vec<_>, _> = self
            .0
            .iter()
            .map(|(name, shape)| shape.to_type(name))
            .collect();
        fields
            .and_then(|fields| {
                Type::group_type_builder("schema")
                    .with_fields(fields)
                    .build()
            })
            .map(Arc::new)
            .map_err(|why| why.to_string())
    }
}
