//! Classification of three logs of 5,000 tests.

use atlas_benches::parsed;
use atlas_oracle::{ClassifyInput, classify};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn classification(bench: &mut Criterion) {
    const TESTS: usize = 5_000;
    let (base, before, after) = (parsed(TESTS, 50), parsed(TESTS, 40), parsed(TESTS, 1_000));
    bench.bench_function("classify 3 x 5,000 tests", |bench| {
        bench.iter(|| classify(black_box(&ClassifyInput::new(&base, &before, &after))));
    });
}

criterion_group!(benches, classification);
criterion_main!(benches);
