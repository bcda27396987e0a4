//! Rows that are read and written one after the other.

use atlas_formats::{Dataset, ReadOptions, Row, each_row, read_dataset};
use std::path::Path;

/// So many rows, with one that is none, one that stands twice, an empty line and blanks.
fn lines(count: usize) -> String {
    let mut text = String::from("\u{feff}");
    for number in 0..count {
        let tests = if number % 2 == 0 {
            "[\"a\", \"b\"]"
        } else {
            "[]"
        };
        let line = format!(
            "{{ \"instance_id\": \"o__n-{number}\", \"repo\": \"o/n\", \"n\": {number}.0, \"FAIL_TO_PASS\": {tests}, \"late\": null}}\r\n"
        );
        text += &line;
    }
    text += "{\"instance_id\": 1}\n\n  {\"instance_id\":\"o__n-0\",\"repo\":\"o/n\"}";
    text
}

fn streamed(path: &Path) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    each_row(path, &ReadOptions::default(), |row| {
        match row {
            Ok(row) => rows.push(row),
            Err(fault) => faults.push(fault.to_string()),
        }
        Ok(())
    })
    .unwrap();
    (rows, faults)
}

#[test]
fn rows_come_one_after_the_other_as_they_come_together() {
    let place = tempfile::tempdir().unwrap();
    // Some pieces of the file.
    for (name, count) in [("few.jsonl", 3), ("many.jsonl", 60_000)] {
        let path = place.path().join(name);
        std::fs::write(&path, lines(count)).unwrap();
        let whole = read_dataset(&path, &ReadOptions::default()).unwrap();
        let (rows, faults) = streamed(&path);
        assert_eq!(rows.len(), count + 1);
        assert!(rows == whole.rows, "{name}");
        let said: Vec<String> = whole.faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults, said, "{name}");
    }
    let list = place.path().join("list.json");
    std::fs::write(&list, "[{\"instance_id\": \"a__a-1\", \"repo\": \"a/a\"}]").unwrap();
    assert_eq!(streamed(&list).0.len(), 1);
}

#[cfg(feature = "parquet")]
#[test]
fn a_table_that_is_written_row_by_row_has_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    for count in [0, 1, 1_000, 2_500] {
        let text: Vec<String> = (0..count)
            .map(|number| {
                format!(
                    "{{\"instance_id\":\"o__n-{number}\",\"l\":[\"x\"],\"t\":\"{}\"}}",
                    "y".repeat(number % 50)
                )
            })
            .collect();
        let set = Dataset::from_bytes(text.join("\n").as_bytes(), Path::new("d.jsonl"));
        assert_eq!(set.rows.len(), count);
        let (whole, streamed) = (
            place.path().join("whole.parquet"),
            place.path().join("rows.parquet"),
        );
        set.write(&whole).unwrap();
        let mut columns = atlas_formats::ParquetColumns::default();
        set.rows.iter().for_each(|row| columns.add(row).unwrap());
        let mut rows = columns.create(&streamed).unwrap();
        set.rows.iter().for_each(|row| rows.add(row).unwrap());
        rows.finish().unwrap();
        assert!(
            std::fs::read(&whole).unwrap() == std::fs::read(&streamed).unwrap(),
            "{count}"
        );
    }
}
