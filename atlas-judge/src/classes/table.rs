//! Counts of classes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassCount {
    /// The class.
    pub class: String,
    /// How many tasks are of it.
    pub count: usize,
    /// Of all counted tasks, in percent; 0 if there are none.
    pub percentage: f64,
}

/// A table as in paper 001's appendix E, the most frequent class first.
///
/// The percentages are of the sum of the counts. (The paper's are of 488, while its counts sum to 487
/// and 486.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassTable {
    /// The rows; classes without a task are left out.
    pub rows: Vec<ClassCount>,
    /// The sum of the counts.
    pub total: usize,
}

impl ClassTable {
    /// Counts. Classes of one count stand in the order of their names.
    ///
    /// ```
    /// use atlas_judge::classes::ClassTable;
    /// let table = ClassTable::of(["bug-fix", "feature", "bug-fix"]);
    /// assert_eq!(table.to_string(), "class    count  percentage\nbug-fix      2     66.6667\nfeature      1     33.3333\n");
    /// ```
    pub fn of<'c>(classes: impl IntoIterator<Item = &'c str>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut total = 0;
        for class in classes {
            *counts.entry(class).or_default() += 1;
            total += 1;
        }
        let mut rows: Vec<ClassCount> = counts
            .into_iter()
            .map(|(class, count)| ClassCount {
                class: class.to_owned(),
                count,
                percentage: percentage(count, total),
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        Self { rows, total }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^52"
)]
fn percentage(count: usize, total: usize) -> f64 {
    count as f64 * 100.0 / total as f64
}

impl std::fmt::Display for ClassTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.rows.iter().map(|row| row.class.len()).max();
        let width = width.unwrap_or_default().max("class".len());
        writeln!(f, "{:width$}  count  percentage", "class")?;
        for row in &self.rows {
            writeln!(
                f,
                "{:width$}  {:5}  {:10.4}",
                row.class, row.count, row.percentage
            )?;
        }
        Ok(())
    }
}
