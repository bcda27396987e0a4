//! Datasets in Parquet files.
//!
//! A column's values become JSON: texts, numbers, booleans, lists, objects. Times and dates are the
//! whole numbers that the file holds. A row that lacks a column has null there, as Parquet has no
//! absent values. Writing a file that was read uses its own schema again, so types stay.

mod rows;
mod shape;

pub use rows::{ParquetColumns, ParquetRows};

use super::{Dataset, FirstPlaces, Layout, made_row};
use crate::convert::SOURCE;
use crate::fault::{FaultKind, RowFault};
use crate::files::write_whole;
use crate::json;
use crate::json::Style;
use crate::row::{Place, Row, kind_of};
use atlas_core::{Error, ErrorKind};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Rows of one row group that is written.
const GROUP: usize = 1_000;

/// Lists and objects within each other.
const MAX_DEPTH: usize = 32;

const READ: &str = "read dataset";

/// The schema of the file that was read.
#[derive(Clone, Debug)]
pub(super) struct Types(TypePtr);

fn failed(operation: &str, path: &Path, why: impl Into<String>) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        operation,
        format!("`{}`", path.display()),
    )
    .with_source(why.into())
}

pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    // The library panics on some damaged files: a negative offset of a column, for one.
    std::panic::catch_unwind(|| read_whole(path))
        .unwrap_or_else(|_| Err(failed(READ, path, "the file is damaged; fetch it again")))
}

fn read_whole(path: &Path) -> Result<Dataset, Error> {
    let file = std::fs::File::open(path).map_err(|why| Error::io(READ, path, why))?;
    let broken = |why: ParquetError| failed(READ, path, why.to_string());
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let schema = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .root_schema_ptr();
    if let Some(why) = unreadable(&schema, 0) {
        return Err(failed(READ, path, why));
    }
    let mut dataset = Dataset::new(Vec::new());
    let mut seen = FirstPlaces::default();
    for (index, row) in reader.get_row_iter(None).map_err(broken)?.enumerate() {
        let place = Place {
            file: path.to_owned(),
            line: 0,
            index,
        };
        let columns: Result<Map<String, Value>, String> = row
            .map_err(broken)?
            .into_columns()
            .into_iter()
            .map(|(name, field)| Ok((name.clone(), to_value(field).map_err(|()| name)?)))
            .collect();
        let row = columns
            .map_err(|column| {
                Box::new(
                    RowFault::new(
                        FaultKind::NotUtf8,
                        &place,
                        "bytes that are no UTF-8, or a number that is none",
                        "write the column as text",
                    )
                    .in_column(column),
                )
            })
            .and_then(|columns| made_row(columns, &place));
        match row {
            Ok(row) => {
                dataset.faults.extend(seen.add(row.id().clone(), place));
                dataset.rows.push(row);
            }
            Err(fault) => dataset.faults.push(*fault),
        }
    }
    dataset.layout = Layout::Parquet(Types(schema));
    Ok(dataset)
}

/// Why a schema holds something that has no place in JSON.
fn unreadable(of: &Type, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return Some(format!("column `{}` is nested too deeply", of.name()));
    }
    if of.is_group() {
        return of
            .get_fields()
            .iter()
            .find_map(|field| unreadable(field, depth + 1));
    }
    let info = of.get_basic_info();
    let odd = matches!(
        of.get_physical_type(),
        Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY
    ) || info.converted_type() == ConvertedType::DECIMAL
        || matches!(info.logical_type_ref(), Some(LogicalType::Decimal(..)));
    odd.then(|| {
        format!(
            "column `{}` is of a type that JSON has no place for ({}); write it as text or as a whole number",
            of.name(),
            of.get_physical_type()
        )
    })
}

/// The value; an error for bytes that are no text and floats that are no numbers.
fn to_value(field: Field) -> Result<Value, ()> {
    let float = |number: f64| Number::from_f64(number).map(Value::Number).ok_or(());
    Ok(match field {
        Field::Null => Value::Null,
        Field::Bool(value) => value.into(),
        Field::Byte(number) => number.into(),
        Field::Short(number) => number.into(),
        Field::Int(number) | Field::Date(number) | Field::TimeMillis(number) => number.into(),
        Field::Long(number)
        | Field::TimeMicros(number)
        | Field::TimestampMillis(number)
        | Field::TimestampMicros(number) => number.into(),
        Field::UByte(number) => number.into(),
        Field::UShort(number) => number.into(),
        Field::UInt(number) => number.into(),
        Field::ULong(number) => number.into(),
        Field::Float(number) => float(f64::from(number))?,
        Field::Double(number) => float(number)?,
        Field::Str(text) => text.into(),
        Field::Bytes(bytes) => String::from_utf8(bytes.data().to_vec())
            .map_err(|_| ())?
            .into(),
        Field::Group(row) => row
            .into_columns()
            .into_iter()
            .map(|(name, field)| Ok((name, to_value(field)?)))
            .collect::<Result<Map<_, _>, ()>>()?
            .into(),
        Field::ListInternal(list) => list
            .elements()
            .iter()
            .map(|field| to_value(field.clone()))
            .collect::<Result<Vec<_>, ()>>()?
            .into(),
        Field::MapInternal(map) => map
            .entries()
            .iter()
            .map(|(key, field)| match to_value(key.clone())? {
                Value::String(key) => Ok((key, to_value(field.clone())?)),
                _ => Err(()),
            })
            .collect::<Result<Map<_, _>, ()>>()?
            .into(),
        _ => return Err(()),
    })
}

/// Writes the rows: with the schema they were read with where they still fit it, else with one made
/// for them.
pub(super) fn write(rows: &[Row], types: Option<&Types>, path: &Path) -> Result<(), Error> {
    const OPERATION: &str = "write dataset";
    let old = types
        .map(|types| &types.0)
        .filter(|schema| fits(schema, rows));
    let bytes = if let Some(Ok(bytes)) = old.map(|schema| to_bytes(rows, schema)) {
        bytes
    } else {
        // Also where a value was set that its column cannot hold.
        let mut shapes = shape::Shapes::default();
        let schema = rows.iter().try_for_each(|row| shapes.add(row));
        let schema = schema.and_then(|()| shapes.schema());
        let schema = schema.map_err(|why| failed(OPERATION, path, why))?;
        to_bytes(rows, &schema).map_err(|why| failed(OPERATION, path, why))?
    };
    write_whole(path, &bytes, None).map_err(|why| Error::io(OPERATION, path, why))
}

/// Whether the rows have the schema's columns, all and no others.
fn fits(schema: &Type, rows: &[Row]) -> bool {
    let fields = schema.get_fields();
    rows.iter().all(|row| {
        row.columns()
            .keys()
            .all(|column| fields.iter().any(|field| field.name() == column))
    })
}

fn to_bytes(rows: &[Row], schema: &TypePtr) -> Result<Vec<u8>, String> {
    let mut writer = new_writer(Vec::new(), schema)?;
    for chunk in rows.chunks(GROUP) {
        let mut group = Group::new(schema)?;
        for row in chunk {
            group.add(row)?;
        }
        group.write(&mut writer)?;
    }
    writer.into_inner().map_err(|why| why.to_string())
}

fn new_writer<W: Write + Send>(
    out: W,
    schema: &TypePtr,
) -> Result<SerializedFileWriter<W>, String> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    SerializedFileWriter::new(out, Arc::clone(schema), Arc::new(properties))
        .map_err(|why| why.to_string())
}

/// The rows of one row group, by their columns.
struct Group {
    schema: TypePtr,
    leaves: Vec<Leaf>,
    rows: usize,
}

impl Group {
    fn new(schema: &TypePtr) -> Result<Self, String> {
        let mut leaves = Vec::new();
        for field in schema.get_fields() {
            empty_leaves(field, &mut leaves)?;
        }
        Ok(Self {
            schema: Arc::clone(schema),
            leaves,
            rows: 0,
        })
    }

    fn add(&mut self, row: &Row) -> Result<(), String> {
        let mut next = 0;
        for field in self.schema.get_fields() {
            let value = row
                .get(field.name())
                .map(|value| stored(field.name(), value));
            let level = Level::default();
            shred(field, value.as_deref(), level, &mut self.leaves, &mut next)
                .map_err(|why| format!("row `{}`: column `{}`: {why}", row.id(), field.name()))?;
        }
        self.rows += 1;
        Ok(())
    }

    fn write<W: Write + Send>(&self, writer: &mut SerializedFileWriter<W>) -> Result<(), String> {
        let broken = |why: ParquetError| why.to_string();
        let mut group = writer.next_row_group().map_err(broken)?;
        for leaf in &self.leaves {
            leaf.write(&mut group).map_err(broken)?;
        }
        group.close().map(drop).map_err(broken)
    }
}

/// What is kept for the way back has other keys in each row: it is stored as text.
fn stored<'a>(column: &str, value: &'a Value) -> Cow<'a, Value> {
    if column == SOURCE && value.is_object() {
        Cow::Owned(json::render(value, &Style::COMPACT).into())
    } else {
        Cow::Borrowed(value)
    }
}

/// Values of one leaf of the schema.
struct Leaf {
    values: Values,
    /// Whether whole numbers have no sign: they stand in the same bits.
    unsigned: bool,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

impl Leaf {
    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        match &self.values {
            Values::Bool(values) => self.put::<BoolType, W>(values, group),
            Values::Int32(values) => self.put::<Int32Type, W>(values, group),
            Values::Int64(values) => self.put::<Int64Type, W>(values, group),
            Values::Float(values) => self.put::<FloatType, W>(values, group),
            Values::Double(values) => self.put::<DoubleType, W>(values, group),
            Values::Bytes(values) => self.put::<ByteArrayType, W>(values, group),
        }
    }

    fn put<T: DataType, W: Write + Send>(
        &self,
        values: &[T::T],
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column too many".to_owned()));
        };
        column.typed::<T>().write_batch(
            values,
            Some(&self.definitions),
            Some(&self.repetitions),
        )?;
        column.close()
    }

    fn null(&mut self, level: Level) {
        self.definitions.push(level.definition);
        self.repetitions.push(level.repetition);
    }

    /// The value in its place; an error where the leaf is of another type.
    fn push(&mut self, value: &Value, level: Level) -> Result<(), String> {
        let whole = || value.as_i64();
        let unsigned = self.unsigned;
        let done = match &mut self.values {
            Values::Bool(values) => value.as_bool().map(|value| values.push(value)),
            Values::Int32(values) => whole()
                .and_then(|number| {
                    i32::try_from(number).ok().or_else(|| {
                        u32::try_from(number)
                            .ok()
                            .filter(|_| unsigned)
                            .map(u32::cast_signed)
                    })
                })
                .map(|number| values.push(number)),
            Values::Int64(values) => whole()
                .or_else(|| value.as_u64().filter(|_| unsigned).map(u64::cast_signed))
                .map(|number| values.push(number)),
            Values::Float(values) => value
                .as_f64()
                .and_then(|number| number.to_string().parse().ok())
                .map(|number| values.push(number)),
            Values::Double(values) => value.as_f64().map(|number| values.push(number)),
            Values::Bytes(values) => value.as_str().map(|text| values.push(text.into())),
        };
        done.ok_or_else(|| format!("{} does not fit the column's type", kind_of(value)))?;
        self.null(level);
        Ok(())
    }
}

/// One empty leaf for each primitive below a type, in the schema's order.
fn empty_leaves(of: &Type, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    if of.is_group() {
        return of
            .get_fields()
            .iter()
            .try_for_each(|field| empty_leaves(field, leaves));
    }
    let values = match of.get_physical_type() {
        Physical::BOOLEAN => Values::Bool(Vec::new()),
        Physical::INT32 => Values::Int32(Vec::new()),
        Physical::INT64 => Values::Int64(Vec::new()),
        Physical::FLOAT => Values::Float(Vec::new()),
        Physical::DOUBLE => Values::Double(Vec::new()),
        Physical::BYTE_ARRAY => Values::Bytes(Vec::new()),
        other => {
            return Err(format!(
                "column `{}`: type {other} is not written",
                of.name()
            ));
        }
    };
    let unsigned = matches!(
        of.get_basic_info().converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    leaves.push(Leaf {
        values,
        unsigned,
        definitions: Vec::new(),
        repetitions: Vec::new(),
    });
    Ok(())
}

/// Where a value stands: Dremel's definition and repetition levels, and how many lists are open.
#[derive(Clone, Copy, Default)]
struct Level {
    definition: i16,
    repetition: i16,
    lists: i16,
}

/// Puts a value into the leaves below its type; `next` is the first of them.
fn shred(
    of: &Type,
    value: Option<&Value>,
    mut level: Level,
    leaves: &mut [Leaf],
    next: &mut usize,
) -> Result<(), String> {
    let value = value.filter(|value| !value.is_null());
    match of.get_basic_info().repetition() {
        Repetition::OPTIONAL => match value {
            Some(_) => level.definition += 1,
            None => return nulls(of, level, leaves, next),
        },
        Repetition::REQUIRED if value.is_none() => {
            return Err(format!("`{}` has no value", of.name()));
        }
        _ => {}
    }
    let Some(value) = value else {
        return Err(format!("`{}` has no value", of.name()));
    };
    if of.is_primitive() {
        let leaf = &mut leaves[*next];
        *next += 1;
        return leaf.push(value, level);
    }
    if let Some(element) = element(of) {
        let Value::Array(items) = value else {
            return Err(format!("a list expected, found {}", kind_of(value)));
        };
        if items.is_empty() {
            return nulls(of, level, leaves, next);
        }
        let first = *next;
        for (at, item) in items.iter().enumerate() {
            *next = first;
            let inner = Level {
                definition: level.definition + 1,
                repetition: if at == 0 {
                    level.repetition
                } else {
                    level.lists + 1
                },
                lists: level.lists + 1,
            };
            shred(element, Some(item), inner, leaves, next)?;
        }
        return Ok(());
    }
    let Value::Object(map) = value else {
        return Err(format!("an object expected, found {}", kind_of(value)));
    };
    let fields = of.get_fields();
    if let Some(key) = map
        .keys()
        .find(|key| fields.iter().all(|f| f.name() != *key))
    {
        return Err(format!("the key `{key}` is not in the column's type"));
    }
    fields
        .iter()
        .try_for_each(|field| shred(field, map.get(field.name()), level, leaves, next))
}

fn nulls(of: &Type, level: Level, leaves: &mut [Leaf], next: &mut usize) -> Result<(), String> {
    if of.is_group() {
        return of
            .get_fields()
            .iter()
            .try_for_each(|field| nulls(field, level, leaves, next));
    }
    leaves[*next].null(level);
    *next += 1;
    Ok(())
}

/// The type of a list's elements, where the type is a list of three levels, or of two.
fn element(of: &Type) -> Option<&Type> {
    let info = of.get_basic_info();
    let is_list = info.converted_type() == ConvertedType::LIST
        || matches!(info.logical_type_ref(), Some(LogicalType::List));
    let [repeated] = of.get_fields() else {
        return None;
    };
    if !is_list || repeated.get_basic_info().repetition() != Repetition::REPEATED {
        return None;
    }
    match repeated.is_group().then(|| repeated.get_fields()) {
        Some([element]) => Some(element),
        _ => None,
    }
}
