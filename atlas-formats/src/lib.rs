#![doc = include_str!("../README.md")]

mod row;
mod schema;

mod dataset;
mod fault;
mod framing;
mod prediction;

mod convert;
mod diff;
mod lint;
mod reverse;

mod base64;
mod files;
mod json;
mod literal;
mod record;

pub use convert::{ConvertOptions, Field, Loss, LossKind, convert};
pub use dataset::{
    Dataset, ParquetColumns, ParquetRows, PlainRow, ReadOptions, RowLists, each_row,
    map_plain_rows, map_rows, map_rows_and_lists, read_dataset,
};
pub use diff::{DatasetDiff, PatchDiff, RowDiff, TestsDiff, diff_datasets};
pub use fault::{FaultKind, RowFault};
pub use framing::FileForm;
pub use lint::{Finding, LintCode, LintOptions, PatchProblem, TryPatches, UnknownLintCode, lint};
pub use literal::{LiteralError, read_literal, write_literal};
pub use prediction::{
    Prediction, PredictionError, Predictions, Winner, map_predictions, read_predictions,
};
pub use reverse::{ReverseError, reverse};
pub use row::{ParseRowError, Place, Row, RowError};
pub use schema::{Schema, SchemaError, UnknownSchema};
