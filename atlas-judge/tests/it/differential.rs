//! The metrics against `NumPy`, `SciPy`, scikit-learn, statsmodels and krippendorff on random data, where a Python that has them is
//! named.

use atlas_judge::metrics::check;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn the_metrics_agree_with_python() {
    let Some(python) = std::env::var_os("ATLAS_TEST_PYTHON") else {
        println!(
            "skipped: ATLAS_TEST_PYTHON names no Python with numpy, scipy, scikit-learn, statsmodels and krippendorff"
        );
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/generate.py");
    for seed in ["1", "2", "3"] {
        let made = Command::new(&python)
            .arg(&script)
            .arg(seed)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let files: Vec<Value> = serde_json::from_slice(&made.stdout).unwrap();
        assert_eq!(files.len(), 23);
        for file in files {
            let report = check(&file);
            let first = report.differences.first();
            assert!(
                report.agrees(),
                "seed {seed}, {}: {first:?} {:?}",
                report.name,
                report.faults
            );
        }
    }
}
