//! Rows, predictions and tasks of the field, read and written without loss.
